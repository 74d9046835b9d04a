/** As much of JSON Schema 2020-12 as the published schemas use; an unknown keyword is an error, not passed over. */

type Schema = Readonly<Record<string, unknown>>;

const SAYS_NOTHING = new Set(['$schema', '$defs', 'title', 'description', 'examples']);

/**
 * What is wrong with a value, each with its path; empty where it fits. `closed`: members that the schema does not
 * name are wrong as well, as all that we print must be documented.
 */
export function schemaErrors(value: unknown, schema: Schema, closed: boolean): string[] {
  const root = schema;
  const errors: string[] = [];
  check(value, schema, '$');
  return errors;

  function check(item: unknown, rule: Schema, path: string): void {
    for (const [keyword, operand] of Object.entries(rule)) {
      if (!SAYS_NOTHING.has(keyword)) apply(keyword, operand, item, rule, path);
    }
  }

  function apply(keyword: string, operand: unknown, item: unknown, rule: Schema, path: string): void {
    const fail = (what: string) => void errors.push(`${path}: ${what}`);
    switch (keyword) {
      case '$ref':
        check(item, definition(String(operand)), path);
        return;
      case 'type': {
        const types = Array.isArray(operand) ? operand : [operand];
        if (!types.some((type) => isOfType(item, type))) fail(`is not ${types.join(' or ')}`);
        return;
      }
      case 'const':
        if (item !== operand) fail(`is not ${JSON.stringify(operand)}`);
        return;
      case 'enum':
        if (!Array.isArray(operand) || !operand.includes(item)) fail(`is none of ${JSON.stringify(operand)}`);
        return;
      case 'pattern':
        if (typeof item === 'string' && !new RegExp(String(operand), 'u').test(item))
          fail(`does not match ${operand}`);
        return;
      case 'minimum':
        if (typeof item === 'number' && item < Number(operand)) fail(`is less than ${operand}`);
        return;
      case 'minItems':
        if (Array.isArray(item) && item.length < Number(operand)) fail(`has fewer than ${operand} items`);
        return;
      case 'items':
        if (Array.isArray(item))
          for (const [index, each] of item.entries()) check(each, asSchema(operand), `${path}[${index}]`);
        return;
      case 'required':
        if (isObject(item) && Array.isArray(operand)) {
          for (const name of operand) if (!Object.hasOwn(item, name)) fail(`lacks ${name}`);
        }
        return;
      case 'properties':
        if (!isObject(item)) return;
        for (const [name, each] of Object.entries(item)) {
          const property = asSchema(operand)[name];
          if (property !== undefined) check(each, asSchema(property), `${path}.${name}`);
          else if (closed) fail(`has ${name}, which the schema does not name`);
        }
        return;
      default:
        throw new Error(`${path}: this test does not know the keyword ${keyword} of ${JSON.stringify(rule)}`);
    }
  }

  function definition(reference: string): Schema {
    const name = /^#\/\$defs\/(\w+)$/.exec(reference)?.[1] ?? '';
    return asSchema(asSchema(root.$defs)[name]);
  }
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asSchema(value: unknown): Schema {
  if (!isObject(value)) throw new Error(`no schema: ${JSON.stringify(value)}`);
  return value;
}
