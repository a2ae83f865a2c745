import { readFileSync } from "node:fs";
import {
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  Kind,
  parse,
  print,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from "graphql";

/** What is known to be valid on the real platform (7.260817.0), as uses of its schema. */
export interface Evidence {
  /** In requests that it was sent and took. */
  readonly ran: readonly string[];
  /** In the documents and schema that its makers publish; nobody sent these to it for us. */
  readonly published: readonly string[];
}

export function readEvidence(): Evidence {
  return JSON.parse(readFileSync(new URL("./evidence.json", import.meta.url), "utf8")) as Evidence;
}

/**
 * Every use that a document makes of the schema: fields as `Type.field`,
 * arguments as `Type.field(argument)`, with the declared type where a variable
 * fills it, words of enumerations as `Enum.word`, and fragments as
 * `Type > Condition`.
 */
export function usesOf(document: string, schema: GraphQLSchema): string[] {
  const uses = new Set<string>();
  const ast = parse(document);
  const fragments = new Map(
    ast.definitions
      .filter((one): one is FragmentDefinitionNode => one.kind === Kind.FRAGMENT_DEFINITION)
      .map((one) => [one.name.value, one.typeCondition.name.value]),
  );
  const info = new TypeInfo(schema);
  const spread = (condition: string | undefined) => {
    const parent = info.getParentType()?.name;
    if (condition !== undefined && parent !== condition) uses.add(`${parent} > ${condition}`);
  };
  let declared = new Map<string, string>();
  visit(
    ast,
    visitWithTypeInfo(info, {
      OperationDefinition(node) {
        declared = new Map((node.variableDefinitions ?? []).map((one) => [one.variable.name.value, print(one.type)]));
      },
      Field(node) {
        if (!node.name.value.startsWith("__")) uses.add(`${info.getParentType()?.name}.${node.name.value}`);
      },
      Argument(node) {
        const use = `${info.getParentType()?.name}.${info.getFieldDef()?.name}(${node.name.value})`;
        uses.add(use);
        if (node.value.kind === Kind.VARIABLE) uses.add(`${use}: ${declared.get(node.value.name.value)}`);
      },
      EnumValue(node) {
        const type = getNamedType(info.getInputType());
        if (isEnumType(type)) uses.add(`${type.name}.${node.value}`);
      },
      FragmentSpread: (node) => spread(fragments.get(node.name.value)),
      InlineFragment: { enter: (node) => spread(node.typeCondition?.name.value) },
    }),
  );
  return [...uses];
}
