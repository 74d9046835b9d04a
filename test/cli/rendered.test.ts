/** Manifests as Helm and Kustomize print them, on standard input: the same rules, and not a word about the rest. */
import { describe, expect, test } from 'vitest';
import { parseSave } from '../support/parse-save.ts';
import { run, runDiff } from '../support/run.ts';
import { workspace } from './support/workspace.ts';

const space = workspace();
const OPTIONS = ['--node', 'node-a', '--cluster-cidr', '10.244.0.0/16'];

const SERVICE = `apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
spec:
  clusterIP: 10.96.0.50
  ports:
  - name: http
    port: 80
    protocol: TCP
    targetPort: 8080
  selector:
    app: web
`;

const SLICE = `addressType: IPv4
apiVersion: discovery.k8s.io/v1
endpoints:
- addresses:
  - 10.244.1.10
kind: EndpointSlice
metadata:
  labels:
    kubernetes.io/service-name: web
  name: web-x1
  namespace: shop
ports:
- name: http
  port: 8080
  protocol: TCP
`;

const HELM = `---
# Source: shop/templates/serviceaccount.yaml
apiVersion: v1
kind: ServiceAccount
metadata:
  name: web
---
# Source: shop/templates/configmap.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  annotations:
    checksum/config: 0x1f
data:
  run.sh: |
    cat <<EOF
    ---
    # Source: nothing
    {{ not a template any more }}
    EOF
---
# Source: shop/charts/db/templates/empty.yaml
---
# Source: shop/templates/service.yaml
${SERVICE}---
# Source: shop/templates/slice.yaml
${SLICE}---
# Source: shop/templates/tests/test-connection.yaml
apiVersion: v1
kind: Pod
metadata:
  name: "web-test"
  annotations:
    "helm.sh/hook": test
spec:
  containers: [{name: wget, image: "busybox", command: ['wget'], args: ['web:80']}]
`;

/** Keys in the order of their letters, documents without a first marker, and what an encoder of Go leaves. */
const KUSTOMIZE = `apiVersion: v1
data:
  a.yaml: "---\\nkind: Nothing\\n"
kind: ConfigMap
metadata:
  creationTimestamp: null
  name: web-5g2t9k
---
${SERVICE.replace('metadata:\n', 'metadata:\n  creationTimestamp: null\n')}status:
  loadBalancer: {}
---
${SLICE}`;

const RULES = [
  '-A KUBE-SEP-FZQ6KZLGXRSKN2AD -p tcp -m comment --comment "shop/web:http" -m tcp -j DNAT --to-destination 10.244.1.10:8080',
  '-A KUBE-SERVICES -d 10.96.0.50/32 -p tcp -m comment --comment "shop/web:http cluster IP" -m tcp --dport 80 -j KUBE-SVC-67NZLRHBNDSAWJRO',
];

describe.each([
  ['helm template', HELM],
  ['kustomize build', KUSTOMIZE],
])('what %s prints', (_tool, text) => {
  const spellings: readonly (readonly [string, string])[] = [
    ['as it is', text],
    ['with a byte order mark', `\ufeff${text}`],
    ['with the line ends of Windows', text.replaceAll('\n', '\r\n')],
    ['with blanks behind its markers', text.replaceAll('---\n', '--- \t\n')],
    ['with three dots at the end', `${text}...\n`],
    ['without the last line feed', text.trimEnd()],
  ];

  test.each(spellings)('%s', async (_title, stdin) => {
    const { code, stdout, stderr } = await run(['-', ...OPTIONS], { stdin });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.split('\n');
    expect(RULES.filter((rule) => !lines.includes(rule))).toEqual([]);
    expect(parseSave(stdout, 'ipv4')).toBeDefined();
  });

  test('on the side of kp-diff that is expected', async () => {
    const { stdout } = await run(['-', ...OPTIONS], { stdin: text });
    const node = space.write('node.save', stdout);
    const { code, stdout: report, stderr } = await runDiff(['-', node, ...OPTIONS], { stdin: text });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(report).toContain('no difference in 1 service port (IPv4)');
  });
});

test('a chart that was not rendered is an error that says what to do', async () => {
  const stdin = SERVICE.replace('name: web', 'name: {{ .Release.Name }}');
  expect(await run(['-', ...OPTIONS], { stdin })).toEqual({
    code: 2,
    stdout: '',
    stderr:
      '<stdin>:4:9: error: a mapping or sequence stands where a key must be\n  help: this looks like a template; render it first, for example helm template CHART | … -\n',
  });
});
