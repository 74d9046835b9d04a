import { type Command, Option } from 'commander';
import type { CompileOptions } from '../compile/index.ts';
import {
  KNOWN_VERSIONS,
  type KubeProxyVersion,
  kubeProxyVersion,
  parseMinor,
  placeOfMinor,
} from '../kube/index.ts';
import { type InputOptions, inputLimits } from './input-options.ts';
import { parseInterfaceOption, readInterfacesFile } from './interfaces.ts';
import { addKubeProxyFlags, configurationFromFlags, KUBE_PROXY_FLAGS_GROUP } from './kube-proxy-flags.ts';
import { UsageError } from './usage-error.ts';

/** What the options say about the node whose rules are compiled. */
export interface NodeOptions {
  readonly node?: string;
  readonly hostnameOverride?: string;
  readonly interface?: readonly string[];
  readonly interfaces?: string;
  readonly config?: string;
  readonly kubeVersion?: string;
  /** undefined where neither form was given. */
  readonly nfacct?: boolean;
}

/** Values of an option that may be given again. */
export function collect(value: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), value];
}

/** Adds the options that say which node, and with which configuration. */
export function addNodeOptions(command: Command): void {
  command
    .option(
      '--node <name>',
      'whose rules; default: hostnameOverride of the configuration, else the only Node in the input',
    )
    .option(
      '--interface <name=addr/len,...>',
      'addresses on an interface of the node (repeatable); default: the Node’s InternalIPs',
      collect,
    )
    .option('--interfaces <file>', 'the same from the output of ip -j addr or ip -o addr')
    .option(
      '--config <file>',
      'KubeProxyConfiguration, or a ConfigMap that holds one; default: the one in the input',
    )
    .option(
      '--kube-version <1.NN>',
      `version of kube-proxy, ${KNOWN_VERSIONS}; default: the Node’s, in kp-diff else the dump’s, else the newest`,
    );
}

/** Adds --nfacct and --no-nfacct. */
export function addNfacctOptions(command: Command): void {
  command
    .option('--nfacct', 'with nfacct counters where the version has them (1.31+); the default')
    .option('--no-nfacct', 'without: where kube-proxy cannot make them');
}

/** Adds kube-proxy's own flags, in a group of the help. */
export function addAllKubeProxyFlags(command: Command): void {
  addKubeProxyFlags(command);
  command.addOption(
    new Option('--hostname-override <name>', 'the same as --node').helpGroup(KUBE_PROXY_FLAGS_GROUP),
  );
}

/** What the options ask of the compiler, files that they name apart. Throws a UsageError. */
export function compileRequest(options: NodeOptions & Readonly<Record<string, unknown>>): CompileOptions {
  const flags = configurationFromFlags(options);
  const interfaces = options.interface?.map(parseInterfaceOption);
  const version = options.kubeVersion === undefined ? undefined : readVersion(options.kubeVersion);
  // An empty variable of a script must not choose another node.
  if (options.node?.trim() === '') throw new UsageError('--node needs a name');
  // As for kube-proxy, an empty name is none: hostnameOverride of the configuration counts then.
  const node = [options.node, options.hostnameOverride].find(
    (name) => name !== undefined && name.trim() !== '',
  );
  return {
    flags,
    ...(options.nfacct === undefined ? {} : { nfacct: options.nfacct }),
    ...(node === undefined ? {} : { node }),
    ...(interfaces === undefined ? {} : { interfaces }),
    ...(version === undefined ? {} : { version }),
  };
}

/** The same with the addresses of --interfaces. Throws a UsageError. */
export async function readCompileRequest(
  options: NodeOptions & InputOptions & Readonly<Record<string, unknown>>,
): Promise<CompileOptions> {
  const request = compileRequest(options);
  if (options.interfaces === undefined) return request;
  const listed = await readInterfacesFile(options.interfaces, inputLimits(options));
  return { ...request, interfaces: [...listed, ...(request.interfaces ?? [])] };
}

function readVersion(text: string): KubeProxyVersion {
  const minor = parseMinor(text);
  if (minor === undefined || placeOfMinor(minor) !== 'known') {
    throw new UsageError(
      `--kube-version: ${JSON.stringify(text)} is not a version known here (${KNOWN_VERSIONS})`,
    );
  }
  return kubeProxyVersion(minor);
}
