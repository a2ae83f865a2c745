import {
  buildSchema,
  type DocumentNode,
  execute,
  type FieldNode,
  GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLInputType,
  type GraphQLResolveInfo,
  type GraphQLScalarType,
  getArgumentValues,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  parse,
  validate,
} from "graphql";
import { ApiError, badInput, forbidden } from "./errors.js";
import { MUTATIONS } from "./operations/mutations.js";
import { QUERIES } from "./operations/queries.js";
import { can } from "./rights.js";
import { SDL } from "./sdl.js";
import { fieldOf, typeNameOf } from "./views/fields.js";
import { type Context, visitOf } from "./world.js";

const schema = buildSchema(SDL, { noLocation: true, assumeValid: true, assumeValidSDL: true });

const STIX_REF = /^([a-z0-9-]+--)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

scalar("StixRef", (value) => {
  if (typeof value !== "string" || !STIX_REF.test(value))
    throw new GraphQLError("Provided value is not a valid STIX Reference");
  return value;
});
scalar("DateTime", (value) => {
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value) || Number.isNaN(Date.parse(value))) {
    throw new GraphQLError(`DateTime cannot represent an invalid date-time-string ${String(value)}.`);
  }
  return new Date(value).toISOString();
});

function scalar(name: string, read: (value: unknown) => unknown): void {
  const type = schema.getType(name) as GraphQLScalarType;
  type.parseValue = read;
  type.parseLiteral = (node) => read("value" in node ? node.value : undefined);
}

/** A request's body. */
export interface GraphqlRequest {
  readonly query?: unknown;
  readonly variables?: Readonly<Record<string, unknown>> | null;
  readonly operationName?: string | null;
}

/** What a request is answered with, and what the audit keeps of it. */
export interface GraphqlReply {
  readonly body: { readonly data?: unknown; readonly errors?: readonly unknown[] };
  /** The root fields that were asked for. */
  readonly fields: readonly string[];
  /** The code of the first error. */
  readonly code?: string | undefined;
}

/** Answers one request in the API's own shapes: every error is in the body. */
export async function answer(request: GraphqlRequest, context: Context): Promise<GraphqlReply> {
  let document: DocumentNode;
  try {
    document = parse(String(request.query), { maxTokens: 100_000 });
  } catch (error) {
    return refused("GRAPHQL_PARSE_FAILED", (error as Error).message);
  }
  const operation = operationOf(document, request.operationName);
  const fields = operation === undefined ? [] : rootFields(operation, document);
  if (fields.some((field) => field.startsWith("__") && field !== "__typename")) {
    return refused("RESOURCE_NOT_FOUND", "GraphQL introspection not authorized!", {
      http_status: 404,
      genre: "TECHNICAL",
    });
  }
  const problem = validate(schema, document)[0]?.message ?? tooOften(operation, fields);
  if (problem !== undefined) return refused("GRAPHQL_VALIDATION_FAILED", problem);
  const result = await execute({
    schema,
    document,
    contextValue: context,
    variableValues: request.variables ?? {},
    operationName: request.operationName,
    fieldResolver: resolve,
    typeResolver: typeNameOf,
  });
  const whole = result.errors?.find((error) => error.originalError instanceof ApiError && error.originalError.whole);
  if (whole !== undefined) return refused("BAD_USER_INPUT", whole.message);
  if (result.errors === undefined) return { body: { data: result.data }, fields };
  const started = "data" in result;
  const errors = result.errors.map((error) => format(error, started ? "INTERNAL_SERVER_ERROR" : "BAD_USER_INPUT"));
  return { body: started ? { errors, data: result.data } : { errors }, fields, code: errors[0]?.name };
}

function format(error: GraphQLError, fallback: string) {
  const extensions = { code: fallback, ...error.extensions };
  const { message, locations, path } = error;
  return {
    message,
    ...(locations !== undefined && { locations }),
    ...(path !== undefined && { path }),
    extensions,
    name: String(extensions.code),
  };
}

function refused(code: string, message: string, data?: Readonly<Record<string, unknown>>): GraphqlReply {
  const extensions = { code, ...(data !== undefined && { data }) };
  return { body: { errors: [{ message, extensions, name: code }] }, fields: [], code };
}

function operationOf(document: DocumentNode, name: string | null | undefined): OperationDefinitionNode | undefined {
  const operations = document.definitions.filter(
    (one): one is OperationDefinitionNode => one.kind === Kind.OPERATION_DEFINITION,
  );
  return name == null ? operations[0] : operations.find((one) => one.name?.value === name);
}

function rootFields(operation: OperationDefinitionNode, document: DocumentNode): string[] {
  const walk = (selections: OperationDefinitionNode["selectionSet"]): string[] =>
    selections.selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection.name.value];
      if (selection.kind === Kind.INLINE_FRAGMENT) return walk(selection.selectionSet);
      const fragment = document.definitions.find(
        (one) => one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === selection.name.value,
      );
      return fragment?.kind === Kind.FRAGMENT_DEFINITION ? walk(fragment.selectionSet) : [];
    });
  return walk(operation.selectionSet);
}

function tooOften(operation: OperationDefinitionNode | undefined, fields: readonly string[]): string | undefined {
  const [type, max] = operation?.operation === "mutation" ? ["Mutation", 1] : ["Query", 2];
  const counted = fields.find((field) => fields.filter((other) => other === field).length > Number(max));
  return counted === undefined
    ? undefined
    : `Allowed number of calls for ${type}->${counted} has been exceeded (max: ${max})`;
}

const resolve: GraphQLFieldResolver<unknown, Context> = (source, args, context, info) => {
  authorize(context, info);
  const { parentType, fieldName } = info;
  if (parentType === schema.getQueryType()) return QUERIES[fieldName]?.(args, visitOf(context));
  if (parentType === schema.getMutationType()) {
    checkLengths(info);
    return MUTATIONS[fieldName]?.(args, visitOf(context));
  }
  if (isThing(source)) return fieldOf(source, fieldName, args, visitOf(context));
  const value = (source as Record<string, unknown>)[fieldName];
  return typeof value === "function" ? value(args) : value;
};

const isThing = (source: unknown): source is Parameters<typeof fieldOf>[0] =>
  typeof source === "object" && source !== null && "standardId" in source;

/** @throws ApiError AUTH_REQUIRED or FORBIDDEN_ACCESS, as the field's @auth says. */
function authorize(context: Context, { parentType, fieldName }: GraphQLResolveInfo): void {
  const directive = parentType.getFields()[fieldName]?.astNode?.directives?.find(({ name }) => name.value === "auth");
  if (directive === undefined) return;
  const { account } = visitOf(context);
  const wanted = directive.arguments?.find(({ name }) => name.value === "for")?.value;
  const capabilities =
    wanted?.kind === Kind.LIST ? wanted.values.map((value) => (value.kind === Kind.ENUM ? value.value : "")) : [];
  if (capabilities.length > 0 && !capabilities.some((capability) => can(account, capability))) throw forbidden();
}

/** Refuses the whole request where a text is shorter than its input field's @constraint says. */
function checkLengths(info: GraphQLResolveInfo): void {
  const field = info.parentType.getFields()[info.fieldName];
  if (field === undefined) return;
  const args = getArgumentValues(field, info.fieldNodes[0] as FieldNode, info.variableValues);
  for (const arg of field.args)
    checkLength(arg.type, args[arg.name], `Argument "${arg.name}" of "${info.fieldName}"`, "");
}

function checkLength(type: GraphQLInputType, value: unknown, where: string, path: string): void {
  if (value === null || value === undefined) return;
  const bare = isNonNullType(type) ? type.ofType : type;
  if (isListType(bare) && Array.isArray(value)) {
    value.forEach((one, index) => {
      checkLength(bare.ofType, one, where, `${path}[${index}]`);
    });
  } else if (isInputObjectType(bare)) {
    for (const [name, field] of Object.entries(bare.getFields())) {
      const own = (value as Record<string, unknown>)[name];
      const at = path === "" ? name : `${path}.${name}`;
      const rule = field.astNode?.directives?.find((one) => one.name.value === "constraint")?.arguments?.[0]?.value;
      const least = rule?.kind === Kind.INT ? Number(rule.value) : 0;
      if (typeof own === "string" && own.length < least) {
        throw badInput(
          `${where} got invalid value "${own}" at "${at}". Must be at least ${least} characters in length`,
          true,
        );
      }
      checkLength(field.type, own, where, at);
    }
  }
}
