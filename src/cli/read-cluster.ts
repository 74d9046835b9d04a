import type { Diagnostic, Report } from '../diagnostics.ts';
import { type Cluster, clusterCollector, type FoundConfiguration, isReadKind } from '../kube/index.ts';
import { DEFAULT_LIMITS, loadObjects, parseYaml, type RawInput, type Sources } from '../load/index.ts';
import type { Io } from './io.ts';
import type { Progress } from './progress.ts';

export interface ReadCluster {
  readonly cluster: Cluster;
  /** From --config, which then wins over what the input holds. */
  readonly configuration: FoundConfiguration | undefined;
  readonly sources: Sources;
}

/**
 * Reads the inputs, and the configuration file if one was named, into a cluster; `given`: bytes of inputs that
 * were read already.
 */
export async function readCluster(
  inputs: readonly string[],
  configFile: string | undefined,
  io: Io,
  progress: Progress,
  report: Report,
  given: ReadonlyMap<string, RawInput> = new Map(),
): Promise<ReadCluster> {
  const collector = clusterCollector(report, (text) => parseYaml(text, DEFAULT_LIMITS)[0]);
  let objects = 0;
  // The configuration is read in the same run, so that one set of sources finds the places of all messages.
  const config = clusterCollector(report, (text) => parseYaml(text, DEFAULT_LIMITS)[0]);
  const summary = await loadObjects(
    configFile === undefined ? inputs : [configFile, ...inputs],
    (object) => {
      // The file may be an input as well (a dump that holds the ConfigMap): only what configures is taken out.
      if (object.origin.file === configFile && configures(object.kind)) {
        config.add(object);
        return;
      }
      objects++;
      progress.tick();
      collector.add(object);
    },
    report,
    { wants: isReadKind, stdin: io.stdin, given },
  );
  progress.done();
  if (objects === 0) report(nothingRead(summary.skipped));
  const [configuration] = config.cluster().configurations;
  if (configFile !== undefined && configuration === undefined) {
    report({
      code: 'no-configuration',
      severity: 'error',
      message: 'no KubeProxyConfiguration in this file',
      place: { file: configFile },
    });
  }
  return { cluster: collector.cluster(), configuration, sources: summary.sources };
}

function configures(kind: string): boolean {
  return kind === 'KubeProxyConfiguration' || kind === 'ConfigMap';
}

function nothingRead(skipped: ReadonlyMap<string, number>): Diagnostic {
  const others = [...skipped].map(([kind, count]) => `${count} ${kind}`).join(', ');
  return {
    code: 'nothing-to-compile',
    severity: 'warning',
    message: `no Service, EndpointSlice or Node in the input${others === '' ? '' : ` (skipped: ${others})`}`,
  };
}
