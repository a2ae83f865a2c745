import {
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isRequiredInputField,
  parse,
  TypeInfo,
  typeFromAST,
  validate,
  visit,
  visitWithTypeInfo,
} from "graphql";

/**
 * Where another schema takes a document otherwise than ours says: what it
 * refuses, what is of another type there, and what of the inputs it lacks or
 * demands. The types of answers and variables are made from ours.
 */
export function differencesOf(document: string, ours: GraphQLSchema, theirs: GraphQLSchema): string[] {
  const ast = parse(document);
  const found = new Set(validate(theirs, ast).map(({ message }) => message));
  const info = new TypeInfo(ours);
  visit(
    ast,
    visitWithTypeInfo(info, {
      Field(node) {
        const parent = info.getParentType()?.name ?? "";
        const type = theirs.getType(parent);
        const field = type !== undefined && "getFields" in type ? type.getFields()[node.name.value] : undefined;
        if (field !== undefined && `${field.type}` !== `${info.getType()}`)
          found.add(`${parent}.${node.name.value} is ${field.type}, not ${info.getType()}`);
      },
      VariableDefinition(node) {
        const type = getNamedType(typeFromAST(ours, node.type as never) as never) as GraphQLNamedType | undefined;
        for (const one of inputDifferencesOf(type, ours, theirs, new Set())) found.add(one);
      },
    }),
  );
  return [...found];
}

function inputDifferencesOf(
  type: GraphQLNamedType | undefined,
  ours: GraphQLSchema,
  theirs: GraphQLSchema,
  seen: Set<string>,
): string[] {
  if (!isInputObjectType(type) || seen.has(type.name)) return [];
  seen.add(type.name);
  const other = theirs.getType(type.name);
  if (!isInputObjectType(other)) return [`${type.name} is no input`];
  const own = type.getFields();
  const given = Object.values(own).flatMap((field) => {
    const there = other.getFields()[field.name];
    const said = `${type.name}.${field.name}`;
    if (there === undefined) return [`${said} does not exist`];
    if (`${there.type}` !== `${field.type}`) return [`${said} is ${there.type}, not ${field.type}`];
    return inputDifferencesOf(getNamedType(field.type), ours, theirs, seen);
  });
  const demanded = Object.values(other.getFields()).filter((field) => isRequiredInputField(field) && !own[field.name]);
  return [...given, ...demanded.map(({ name }) => `${type.name}.${name} is required`)];
}
