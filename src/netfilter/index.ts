export type { Match, Target } from './extensions/index.ts';
export type { AddressMatch, Chain, Counters, Family, InterfaceMatch, ProtocolMatch, Rule, Ruleset, Table } from './ruleset.ts';
