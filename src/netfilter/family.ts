/** `iptables` and `ip6tables` keep separate rules; one ruleset is always of one family. */
export type Family = 'ipv4' | 'ipv6';
