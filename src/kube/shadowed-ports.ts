import type { FieldPath, Report } from '../diagnostics.ts';
import { joinHostPort } from './ip.ts';
import type { Service } from './service.ts';

/**
 * Two Services with the same cluster IP, port and protocol, or the same node port and protocol: manifests may say so,
 * and no API server lets them. Traffic then reaches one of the two.
 */
export function reportShadowedPorts(services: readonly Service[], report: Report): void {
  const first = new Map<string, { readonly service: Service; readonly field: FieldPath }>();
  const check = (service: Service, field: FieldPath, code: string, words: string) => {
    const before = first.get(words);
    if (before === undefined) first.set(words, { service, field });
    if (before === undefined || before.service === service) return;
    report({
      code,
      severity: 'warning',
      message: `${words} is that of Service ${before.service.namespace}/${before.service.name} as well: one shadows the other, and which one is left to chance`,
      object: `Service ${service.namespace}/${service.name}`,
      field,
      origin: service.origin,
      other: { origin: before.service.origin, field: before.field },
      help: 'no API server gives it to two Services: correct one of them, or leave it out',
    });
  };
  for (const service of services) {
    service.ports.forEach(({ port, nodePort, protocol }, index) => {
      for (const { ip } of service.clusterIPs) {
        const field = ['spec', 'ports', index, 'port'];
        check(service, field, 'shared-cluster-ip', `${joinHostPort(ip.text, port)} ${protocol}`);
      }
      if (nodePort !== 0) {
        check(
          service,
          ['spec', 'ports', index, 'nodePort'],
          'shared-node-port',
          `node port ${nodePort} ${protocol}`,
        );
      }
    });
  }
}
