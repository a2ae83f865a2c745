import { type DescMethod, isFieldSet, isMessage, ScalarType } from "@bufbuild/protobuf";

/** What an audit line says of a request: the names of its arguments, never their values, and the object it is about. */
export function auditOf({ input }: DescMethod, request: unknown): { args?: string[]; target?: string } {
  if (!isMessage(request)) return {};
  const { id } = input.field;
  const target = id?.scalar === ScalarType.STRING ? (request as unknown as { id: string }).id : "";
  return {
    args: input.fields.filter((field) => isFieldSet(request, field)).map((field) => field.name),
    ...(target !== "" && { target }),
  };
}
