import type { DescMessage } from "@bufbuild/protobuf";

const known = new WeakMap<DescMessage, boolean>();

/** Whether a message has a field that is never shown (debug_redact), in itself or in what it contains. */
export function holdsSecret(desc: DescMessage): boolean {
  let holds = known.get(desc);
  if (holds === undefined) {
    // Known before it is decided, for messages that contain themselves.
    known.set(desc, false);
    holds = desc.fields.some(
      (field) =>
        field.proto.options?.debugRedact === true || (field.message !== undefined && holdsSecret(field.message)),
    );
    known.set(desc, holds);
  }
  return holds;
}
