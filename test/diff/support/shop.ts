/** A small cluster with a Service of each kind, for tests that say in words what differs. */
export const SHOP = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  clusterIP: 10.96.0.50
  ports: [{name: http, port: 80, targetPort: 8080}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints:
- {addresses: [10.244.1.10], nodeName: node-a}
- {addresses: [10.244.2.11], nodeName: node-b}
- {addresses: [10.244.3.12], nodeName: node-c}
---
apiVersion: v1
kind: Service
metadata: {name: front, namespace: shop}
spec:
  type: LoadBalancer
  clusterIP: 10.96.0.60
  externalIPs: [198.51.100.60]
  loadBalancerSourceRanges: [192.0.2.0/24, 198.51.100.0/24]
  ports: [{name: https, port: 443, targetPort: 8443, nodePort: 30443}]
status: {loadBalancer: {ingress: [{ip: 203.0.113.60}]}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: front-1, namespace: shop, labels: {kubernetes.io/service-name: front}}
addressType: IPv4
ports: [{name: https, port: 8443}]
endpoints:
- {addresses: [10.244.1.20], nodeName: node-a}
- {addresses: [10.244.2.21], nodeName: node-b}
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec:
  clusterIP: 10.96.0.70
  sessionAffinity: ClientIP
  ports: [{port: 80, targetPort: 8080}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: cart-1, namespace: shop, labels: {kubernetes.io/service-name: cart}}
addressType: IPv4
ports: [{port: 8080}]
endpoints:
- {addresses: [10.244.1.30], nodeName: node-a}
- {addresses: [10.244.2.31], nodeName: node-b}
---
apiVersion: v1
kind: Service
metadata: {name: agent, namespace: shop}
spec:
  type: LoadBalancer
  externalTrafficPolicy: Local
  healthCheckNodePort: 32000
  clusterIP: 10.96.0.80
  ports: [{name: grpc, port: 9000, targetPort: 9000, nodePort: 30900}]
status: {loadBalancer: {ingress: [{ip: 203.0.113.80}]}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: agent-1, namespace: shop, labels: {kubernetes.io/service-name: agent}}
addressType: IPv4
ports: [{name: grpc, port: 9000}]
endpoints:
- {addresses: [10.244.1.40], nodeName: node-a}
- {addresses: [10.244.2.41], nodeName: node-b}
---
apiVersion: v1
kind: Service
metadata: {name: idle, namespace: shop}
spec:
  type: NodePort
  clusterIP: 10.96.0.90
  externalIPs: [198.51.100.90]
  ports: [{name: http, port: 80, nodePort: 30090}]
---
apiVersion: v1
kind: Service
metadata: {name: dns, namespace: kube-system}
spec:
  clusterIP: 10.96.0.10
  ports:
  - {name: dns, port: 53, protocol: UDP}
  - {name: dns, port: 53, protocol: TCP}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: dns-1, namespace: kube-system, labels: {kubernetes.io/service-name: dns}}
addressType: IPv4
ports: [{name: dns, port: 53, protocol: UDP}, {name: dns, port: 53, protocol: TCP}]
endpoints:
- {addresses: [10.244.1.53], nodeName: node-a}
- {addresses: [10.244.2.53], nodeName: node-b}
`;
