/** IP sets, as `ipset save` prints them and `ipset restore` takes them. Plain data. */

export interface IpSet {
  readonly name: string;
  /** `hash:ip,port`, `bitmap:port` …; empty where members were added to a set that the text does not create. */
  readonly type: string;
  /**
   * Options of `create` in the order they were given, without the values that only the kernel knows. The kernel
   * doubles `hashsize` as a set grows, so two dumps of the same set may differ in it.
   */
  readonly options: readonly IpSetOption[];
  /** In the order they were given; a set has no order. */
  readonly members: readonly IpSetMember[];
  /** What only the kernel knows: `bucketsize 12`, `initval 0x…`. Not printed. */
  readonly kernel?: readonly IpSetOption[];
  /** Rules and sets that use it, as `ipset list` counts them; it cannot be destroyed before they are gone. */
  readonly references?: number;
}

/** `family inet`, `hashsize 1024`, `range 0-65535`; a flag such as `counters` has no value. */
export interface IpSetOption {
  readonly name: string;
  readonly value?: string;
}

export interface IpSetMember {
  /** `10.96.0.1,tcp:443`, `30080`, `fd00::1` */
  readonly entry: string;
  /** `timeout 30`, `comment "…"`, `nomatch`, `packets 0`, `bytes 0`. A value is kept without its quotes. */
  readonly options: readonly IpSetOption[];
}
