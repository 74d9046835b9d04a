/** IPVS virtual servers, as `ipvsadm -Sn` prints them and `ipvsadm -R` takes them. Plain data. */

export type IpvsService =
  | {
      readonly by: 'address';
      readonly protocol: 'tcp' | 'udp' | 'sctp';
      readonly address: string;
      readonly port: number;
    }
  /** `-f`: packets that carry a firewall mark; `ipv6` where `-6` was given. */
  | { readonly by: 'mark'; readonly mark: number; readonly ipv6: boolean };

export interface VirtualServer {
  readonly service: IpvsService;
  readonly scheduler: string;
  /** Seconds; undefined: not persistent. */
  readonly persistentSeconds?: number;
  /** As printed with `-M`: a dotted mask, or for IPv6 a prefix length; undefined: a single address. */
  readonly persistentMask?: string;
  /** `--pe sip` */
  readonly persistenceEngine?: string;
  /** `mh-port`, `sh-fallback`, `ops` … in the order given. */
  readonly flags: readonly string[];
  readonly realServers: readonly RealServer[];
}

export interface RealServer {
  readonly address: string;
  readonly port: number;
  readonly method: 'masquerade' | 'gatewaying' | 'tunneling';
  readonly weight: number;
  /** `-x`, `-y` thresholds; undefined or 0: none. `ipvsadm -Sn` does not print them. */
  readonly upperThreshold?: number;
  readonly lowerThreshold?: number;
  /** `--tun-type ipip`, `--tun-port 6080`, `--tun-nocsum`, word by word. */
  readonly tunnel?: readonly string[];
  /** Connections, where the text is a listing (`ipvsadm -Ln`) and counts them. */
  readonly activeConnections?: number;
  readonly inactiveConnections?: number;
}
