export { canonicalAddress } from './addresses.ts';
export type { Applied, ApplyOptions } from './apply.ts';
export { applyRestore } from './apply.ts';
export { inChunks } from './chunks.ts';
export type { TextFormat } from './detect.ts';
export { describeFormat, detectFormat } from './detect.ts';
export type { Match, Target } from './extensions/index.ts';
export { sameProbability } from './extensions/statistic.ts';
export type { Backend } from './header-comment.ts';
export type { InterfaceAddresses, IpAddr, IpAddrProblem } from './ip-addr.ts';
export { parseIpAddr } from './ip-addr.ts';
export type { AddrBatchOptions } from './ip-addr-batch.ts';
export { printAddrBatch } from './ip-addr-batch.ts';
export { isAddrBatch, parseAddrBatch } from './ip-addr-batch-read.ts';
export type { ParsedIpset } from './ipset.ts';
export { parseIpset } from './ipset.ts';
export { canonicalMember } from './ipset-members.ts';
export { addLine, createLine, delLine, printIpsetRestore } from './ipset-print.ts';
export type { IpSet, IpSetMember, IpSetOption } from './ipset-types.ts';
export type { ParsedIpvsadm } from './ipvs.ts';
export { parseIpvsadm } from './ipvs.ts';
export { printAddressAndPort } from './ipvs-addresses.ts';
export { canonicalVirtualServer } from './ipvs-canonical.ts';
export { serviceKey } from './ipvs-draft.ts';
export {
  printIpvsadmRestore,
  realServerWords,
  serviceWords,
  virtualServerWords,
} from './ipvs-print.ts';
export type { IpvsProblem, IpvsProblemCode } from './ipvs-problems.ts';
export type { IpvsService, RealServer, VirtualServer } from './ipvs-types.ts';
export { type KnownChains, newKnownChains } from './known-chains.ts';
export type { ParsedSave, ParseOptions } from './parse.ts';
export { parseIptablesSave } from './parse.ts';
export type { TablePlace } from './parse-draft.ts';
export { withPlainSpelling } from './plain-spelling.ts';
export { printRestore, restoreLine } from './print-restore.ts';
export { canonicalRule, printSave, saveLine } from './print-save.ts';
export type { ParseProblem, ParseProblemCode } from './problems.ts';
export type { RestoreStatement, TableCommands } from './restore-commands.ts';
export { isWritable, printCommands } from './restore-commands.ts';
export type {
  AddressMatch,
  Chain,
  Command,
  Counters,
  Family,
  InterfaceMatch,
  ProtocolMatch,
  Rule,
  Ruleset,
  Statement,
  Table,
} from './ruleset.ts';
export type { Dump, SplitOptions } from './split-dumps.ts';
export { splitDumps } from './split-dumps.ts';
export { undeclaredJumps } from './undeclared-jumps.ts';
