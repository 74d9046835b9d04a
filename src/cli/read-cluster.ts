import type { Diagnostic, Report } from '../diagnostics.ts';
import {
  type Cluster,
  type CollectorOptions,
  clusterCollector,
  type FoundConfiguration,
  isCompiledKind,
  isReadKind,
} from '../kube/index.ts';
import {
  DEFAULT_LIMITS,
  type LoadLimits,
  loadObjects,
  parseYaml,
  type Sources,
  type WholeInput,
} from '../load/index.ts';
import type { Io } from './io.ts';
import type { Progress } from './progress.ts';

export interface ReadClusterOptions extends CollectorOptions {
  /** Inputs that were read already; they are taken out. */
  readonly given?: Map<string, WholeInput>;
  readonly limits?: Partial<LoadLimits>;
}

export interface ReadCluster {
  readonly cluster: Cluster;
  /** From --config, which then wins over what the input holds. */
  readonly configuration: FoundConfiguration | undefined;
  readonly sources: Sources;
  /** Nothing was read that rules are made from: what would be compiled is no answer to anything. */
  readonly isEmpty: boolean;
}

/** Reads the inputs, and the configuration file if one was named, into a cluster. */
export async function readCluster(
  inputs: readonly string[],
  configFile: string | undefined,
  io: Io,
  progress: Progress,
  sink: Report,
  options: ReadClusterOptions = {},
): Promise<ReadCluster> {
  const { given = new Map(), limits = {} } = options;
  let failed = false;
  const report: Report = (diagnostic) => {
    failed ||= diagnostic.severity === 'error';
    sink(diagnostic);
  };
  const parse = (text: string) => parseYaml(text, { ...DEFAULT_LIMITS, ...limits })[0];
  const collector = clusterCollector(report, parse, options);
  let objects = 0;
  const helpers = new Map<string, number>();
  // The configuration is read in the same run, so that one set of sources finds the places of all messages.
  const config = clusterCollector(report, parse);
  const summary = await loadObjects(
    configFile === undefined ? inputs : [configFile, ...inputs],
    (object, about) => {
      // The file may be an input as well (a dump that holds the ConfigMap): only what configures is taken out.
      if (object.origin.file === configFile && configures(object.kind)) {
        config.add(object, about);
        return;
      }
      if (isCompiledKind(object.apiVersion, object.kind)) objects++;
      else helpers.set(object.kind, (helpers.get(object.kind) ?? 0) + 1);
      progress.tick(object.origin.end);
      collector.add(object, about);
    },
    report,
    { wants: isReadKind, stdin: io.stdin, given, limits, onFile: progress.file },
  );
  progress.done();
  // What could not be read says enough.
  if (objects === 0 && !failed) report(nothingRead(new Map([...summary.skipped, ...helpers])));
  const [configuration] = config.cluster().configurations;
  if (configFile !== undefined && configuration === undefined) {
    report({
      code: 'no-configuration',
      severity: 'error',
      message: 'no KubeProxyConfiguration in this file',
      place: { file: configFile },
    });
  }
  return { cluster: collector.cluster(), configuration, sources: summary.sources, isEmpty: objects === 0 };
}

function configures(kind: string): boolean {
  return kind === 'KubeProxyConfiguration' || kind === 'ConfigMap';
}

function nothingRead(skipped: ReadonlyMap<string, number>): Diagnostic {
  const others = [...skipped].map(([kind, count]) => `${count} ${kind}`).join(', ');
  return {
    code: 'nothing-to-compile',
    severity: 'error',
    message: `nothing to compile was read: no Service, EndpointSlice or Node in the input${others === '' ? '' : ` (skipped: ${others})`}`,
  };
}
