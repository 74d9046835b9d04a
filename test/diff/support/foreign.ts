/** What other programs and hands leave on a node, beside kube-proxy's rules: all of it has to stay. */
import {
  canonicalRule,
  type Family,
  parseIptablesSave,
  type Rule,
  type Ruleset,
} from '../../../src/netfilter/index.ts';
import type { Random } from './random.ts';

const DOCKER = (address: string, network: string): Readonly<Record<string, string>> => ({
  nat: `*nat
:DOCKER - [0:0]
:CNI-HOSTPORT-DNAT - [0:0]
:CNI-DN-3f0d3b5a2c1e4f6a7b8c9 - [0:0]
:CNI-HOSTPORT-SETMARK - [0:0]
-A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER
-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT
-A PREROUTING -i eth0 -p tcp -m tcp --dport 2222 -m comment --comment "by hand: \\"ssh\\" of the old box" -j DNAT --to-destination ${address}:22
-A OUTPUT -m addrtype --dst-type LOCAL -j DOCKER
-A POSTROUTING -s ${network} ! -o docker0 -j MASQUERADE
-A POSTROUTING -o eth0 -p udp -j MASQUERADE --to-ports 1024-65535
-A DOCKER -i docker0 -j RETURN
-A DOCKER ! -i docker0 -p tcp -m tcp --dport 8080 -j DNAT --to-destination ${address}:80
-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"net\\" id: \\"1\\"" -m multiport --dports 9000,9001 -j CNI-DN-3f0d3b5a2c1e4f6a7b8c9
-A CNI-DN-3f0d3b5a2c1e4f6a7b8c9 -s ${network} -p tcp -m tcp --dport 9000 -j CNI-HOSTPORT-SETMARK
-A CNI-DN-3f0d3b5a2c1e4f6a7b8c9 -p tcp -m tcp --dport 9000 -j DNAT --to-destination ${address}:9000
-A CNI-HOSTPORT-SETMARK -m comment --comment "CNI portfwd masquerade mark" -j MARK --set-xmark 0x2000/0x2000
COMMIT
`,
  filter: `*filter
:INPUT DROP [0:0]
:FORWARD DROP [0:0]
:DOCKER - [0:0]
:DOCKER-USER - [0:0]
:cali-FORWARD - [0:0]
:KUBE-KUBELET-CANARY - [0:0]
-A INPUT -i lo -j ACCEPT
-A INPUT -p tcp -m tcp --dport 22 -m conntrack --ctstate NEW -j ACCEPT
-A FORWARD -m comment --comment "cali:wUHhoiAYhphO9Mso" -j cali-FORWARD
-A FORWARD -j DOCKER-USER
-A FORWARD -o docker0 -j DOCKER
-A FORWARD -m limit --limit 5/min -j LOG --log-prefix "dropped: "
-A OUTPUT -m mark --mark 0x1/0x1 -j DROP
-A DOCKER -d ${address} ! -i docker0 -o docker0 -p tcp -m tcp --dport 80 -j ACCEPT
-A DOCKER-USER -j RETURN
-A cali-FORWARD -i cali+ -m mark --mark 0x10000/0x10000 -j ACCEPT
COMMIT
`,
  mangle: `*mangle
:FORWARD ACCEPT [0:0]
-A FORWARD -p tcp -m tcp --tcp-flags SYN,RST SYN -j TCPMSS --clamp-mss-to-pmtu
COMMIT
`,
});

const TEXTS: Readonly<Record<Family, Readonly<Record<string, string>>>> = {
  ipv4: DOCKER('172.17.0.2/32', '172.17.0.0/16'),
  ipv6: DOCKER('fd00:17::2/128', 'fd00:17::/64'),
};

/** The rules of others put between those of a node: before, behind and among kube-proxy's jumps. */
export function withForeign(ruleset: Ruleset, random: Random): Ruleset {
  const { family } = ruleset;
  const text = Object.values(TEXTS[family])
    .join('')
    .replaceAll(
      /--to-destination (\S+)\/(?:32|128):(\d+)/g,
      family === 'ipv4' ? '--to-destination $1:$2' : '--to-destination [$1]:$2',
    );
  const others = parseIptablesSave(text, { family }).ruleset;
  return {
    family,
    tables: ruleset.tables.map((table) => {
      const foreign = others.tables.find(({ name }) => name === table.name)?.chains ?? [];
      const chains = table.chains.map((chain) => {
        const more = foreign.find(({ name }) => name === chain.name);
        return more === undefined
          ? chain
          : { ...chain, policy: more.policy ?? chain.policy, rules: among(chain.rules, more.rules, random) };
      });
      return {
        ...table,
        chains: [
          ...chains,
          ...foreign.filter(({ name }) => !table.chains.some((each) => each.name === name)),
        ],
      };
    }),
  };
}

/** Keeps the order of both. */
function among(ours: readonly Rule[], others: readonly Rule[], random: Random): Rule[] {
  const mixed = [...ours];
  let from = 0;
  for (const rule of others) {
    from += random.below(mixed.length - from + 1);
    mixed.splice(from++, 0, rule);
  }
  return mixed;
}

/** All that is not kube-proxy's, line by line: policies, chains, and rules but the jumps to its chains. */
export function foreignLines({ tables, family }: Ruleset): string[] {
  return tables.flatMap(({ name, chains }) =>
    chains
      .filter((chain) => !chain.name.startsWith('KUBE-') || chain.name === 'KUBE-KUBELET-CANARY')
      .flatMap((chain) => [
        `${name} ${chain.name} ${chain.policy}`,
        ...chain.rules
          .filter(({ target }) => target?.kind !== 'jump' || !target.chain.startsWith('KUBE-'))
          .map((rule) => `${name} ${chain.name} ${canonicalRule(rule, family)}`),
      ]),
  );
}
