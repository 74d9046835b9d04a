import { nodePortJump } from '../fixed-rules.ts';
import type { LayoutChange } from '../layout.ts';
import { host, ofType } from '../rule.ts';

/** PR 108250: ::1 is never answered, since it never worked, and 127.0.0.0/8 only if localhostNodePorts says so. */
export const LOCALHOST_NODE_PORTS: LayoutChange = {
  since: 26,
  what: 'node ports are not open on ::1, nor on 127.0.0.0/8 where localhostNodePorts is off',
  before: () => ({
    nodePortJumps: ({ nodePortAddresses }) =>
      nodePortAddresses.match === 'all'
        ? [nodePortJump({}, [ofType('destination', 'LOCAL')])]
        : nodePortAddresses.addresses.map(({ text }) => nodePortJump({ destination: host(text) }, [])),
  }),
};
