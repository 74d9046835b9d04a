import { describe, expect, test } from 'vitest';
import { loadText, serviceJson, serviceYaml } from './load-support.ts';

const bare = (name: string) => `{"metadata": {"name": "${name}"}}`;

describe('a List', () => {
  test('is taken apart, in YAML in any layout and in JSON with its keys in any order', async () => {
    const indented = `${serviceYaml('b', '    ').replace('    a', '  - a')}`;
    const layouts: Record<string, string> = {
      'kubectl.yaml': `apiVersion: v1\nitems:\n- ${serviceYaml('b', '  ').trim()}\nkind: List\nmetadata:\n  resourceVersion: ""\n`,
      'indented.yaml': `kind: List\napiVersion: v1\nitems: # two\n${indented}`,
      'separate.yaml': `kind: List\napiVersion: v1\nitems:\n\n# first\n-\n${serviceYaml('b', '  ')}`,
      'flow.yaml': `{kind: List, apiVersion: v1, items: [{apiVersion: v1, kind: Service, metadata: {name: b, namespace: shop}}]}`,
      'plain.json': `{"apiVersion": "v1", "kind": "List", "items": [${serviceJson('b')}]}`,
      'last.json': `{"items"\n:\t[ ${serviceJson('b')} ] , "kind":"List","apiVersion":"v1"}`,
      'escaped.json': `{"\\u0069tems": [${serviceJson('b')}], "kind":"List","apiVersion":"v1"}`,
    };
    for (const [name, text] of Object.entries(layouts)) {
      const loaded = await loadText(name, text);
      expect([name, loaded.messages, loaded.names]).toEqual([name, [], ['Service shop/b']]);
    }
  });

  test('of one kind passes kind and apiVersion on to items without them, also in a List', async () => {
    const slices = `{"kind": "EndpointSliceList", "apiVersion": "discovery.k8s.io/v1", "items": [${bare('s')}]}`;
    const services = `{"items": [${bare('a')}, {"kind": "Other", "metadata": {"name": "o"}}], "kind": "ServiceList", "apiVersion": "v1"}`;
    const { objects, messages } = await loadText(
      'a.json',
      `{"kind":"List","apiVersion":"v1","items":[${services},${slices}]}`,
    );
    expect(messages).toEqual([]);
    expect(objects.map(({ apiVersion, kind, origin }) => [apiVersion, kind, origin.path])).toEqual([
      ['v1', 'Service', ['items', 0]],
      ['v1', 'Other', ['items', 1]],
      ['discovery.k8s.io/v1', 'EndpointSlice', ['items', 0]],
    ]);
  });

  test('may be empty in each of its spellings', async () => {
    for (const items of ['items: []\n', 'items:\n', 'items: null\n', '']) {
      const loaded = await loadText('a.yaml', `apiVersion: v1\nkind: List\n${items}`);
      expect([items, loaded.messages, loaded.names]).toEqual([items, [], []]);
    }
  });

  test('is an object when it only sounds like a List', async () => {
    const { names } = await loadText(
      'a.yaml',
      'apiVersion: acme.io/v1\nkind: BlockList\nmetadata: {name: x}\n',
    );
    expect(names).toEqual(['BlockList x']);
  });

  test('with bad items gives the good ones and names the bad, in a folder too', async () => {
    const yaml = `apiVersion: v1\nkind: List\nitems:\n- just text\n- kind: Service\n- ${serviceYaml('a', '  ').trim()}\n- kind: 5\n  apiVersion: v1\n-\n`;
    const json = `{"apiVersion":"v1","kind":"List","items":[\n"just text",\n{"kind":"Service"},\n${serviceJson('a')},\n{"kind":5,"apiVersion":"v1"},\nnull]}`;
    const fromYaml = await loadText('a.yaml', yaml);
    expect(fromYaml.names).toEqual(['Service shop/a']);
    expect(fromYaml.messages).toEqual([
      'a.yaml:4:3: error: the string "just text" is no Kubernetes object; expected a mapping with apiVersion and kind',
      'a.yaml:5:3: error: kind Service without apiVersion',
      'a.yaml:9:9: error: kind: kind must be a string, found the number 5',
      'a.yaml:11:1: error: nothing is no Kubernetes object; expected a mapping with apiVersion and kind',
    ]);
    const fromJson = await loadText('a.json', json);
    expect(fromJson.names).toEqual(['Service shop/a']);
    expect(fromJson.messages).toEqual([
      'a.json:2:1: error: the string "just text" is no Kubernetes object; expected a mapping with apiVersion and kind',
      'a.json:3:1: error: kind Service without apiVersion',
      'a.json:5:9: error: kind: kind must be a string, found the number 5',
      'a.json:6:1: error: nothing is no Kubernetes object; expected a mapping with apiVersion and kind',
    ]);
  });

  test('with one item that cannot be parsed gives the others', async () => {
    const yaml = `apiVersion: v1\nkind: List\nitems:\n- ${serviceYaml('a', '  ').trim()}\n- kind: [\n- ${serviceYaml('b', '  ').trim()}\n`;
    const fromYaml = await loadText('a.yaml', yaml);
    expect(fromYaml.names).toEqual(['Service shop/a', 'Service shop/b']);
    expect(fromYaml.messages).toEqual([
      'a.yaml:8:1: error: a bracket or quote is still open here, or its text is indented too little',
    ]);
    const json = `{"apiVersion":"v1","kind":"List","items":[\n${serviceJson('a')},\n{"kind": nope},\n${serviceJson('b')}]}`;
    const fromJson = await loadText('a.json', json);
    expect(fromJson.names).toEqual(['Service shop/a', 'Service shop/b']);
    expect(fromJson.messages).toEqual(["a.json:3:10: error: expected a value, found 'n'"]);
  });

  test('whose items share an anchor is read as a whole, each item once', async () => {
    const yaml = `apiVersion: v1\nkind: List\nitems:\n- ${serviceYaml('a', '  ').trim()}\n  spec: &spec {clusterIP: 10.0.0.1}\n- ${serviceYaml('b', '  ').trim()}\n  spec: *spec\n- ${serviceYaml('c', '  ').trim()}\n`;
    const { names, objects, messages } = await loadText('a.yaml', yaml);
    expect(messages).toEqual([]);
    expect(names).toEqual(['Service shop/a', 'Service shop/b', 'Service shop/c']);
    expect(objects[1]?.value.spec).toEqual({ clusterIP: '10.0.0.1' });
  });

  test('in block style has lines in its scalars that look like items', async () => {
    const yaml = `apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: m}\n  data:\n    x: |\n      - not an item\n      items:\n\n    # text ends above\n    z: >-\n      - folded\n- ${serviceYaml('a', '  ').trim()}\n`;
    const { names, objects } = await loadText('a.yaml', yaml);
    expect(names).toEqual(['ConfigMap m', 'Service shop/a']);
    expect(objects[0]?.value.data).toEqual({ x: '- not an item\nitems:\n', z: '- folded' });
  });
});
