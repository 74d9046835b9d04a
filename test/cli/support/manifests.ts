/** Objects for tests of the command, as small as they can be. */

export const NODE_A = `apiVersion: v1
kind: Node
metadata:
  name: node-a
status:
  addresses:
    - type: InternalIP
      address: 192.168.0.2
  nodeInfo:
    kubeletVersion: v1.36.0
`;

export const NODE_B = NODE_A.replace('node-a', 'node-b').replace('192.168.0.2', '192.168.0.3');

export const WEB = `apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: shop
spec:
  type: NodePort
  externalTrafficPolicy: Local
  clusterIP: 10.96.0.50
  ports:
    - port: 80
      nodePort: 30080
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: web-1
  namespace: shop
  labels:
    kubernetes.io/service-name: web
addressType: IPv4
ports:
  - name: ""
    port: 8080
endpoints:
  - addresses:
      - 10.244.1.10
    nodeName: node-a
  - addresses:
      - 10.244.2.10
    nodeName: node-b
`;

export const KUBE_PROXY = `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clusterCIDR: 10.244.0.0/16
`;

export function documents(...texts: readonly string[]): string {
  return texts.join('---\n');
}
