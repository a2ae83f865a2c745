import { type DescField, ScalarType } from "@bufbuild/protobuf";
import type { Method } from "../shared/rpc/method.js";

// An id in capitals is the same id (RFC 9562, section 4). Ours are kept in small letters.

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** An id that its caller makes. */
const OWN = "request_id";

/** A method whose requests name objects by ids in small letters, in whichever they came. */
export function withPlainIds(method: Method): Method {
  const { desc, handle } = method;
  const names = desc.input.fields.filter(isId).map(({ localName }) => localName);
  if (names.length === 0 || desc.methodKind === "client_streaming" || desc.methodKind === "bidi_streaming")
    return method;
  return {
    ...method,
    handle(request: never, call) {
      for (const name of names) {
        const fields = request as Record<string, unknown>;
        const value = fields[name];
        if (typeof value === "string") fields[name] = plain(value);
        else if (Array.isArray(value)) fields[name] = value.map(plain);
      }
      return handle(request, call);
    },
  };
}

function isId({ name, fieldKind, ...field }: DescField): boolean {
  const isText = "scalar" in field && field.scalar === ScalarType.STRING;
  return isText && fieldKind !== "map" && name !== OWN && /_ids?$/.test(name);
}

function plain(id: string): string {
  return UUID.test(id) ? id.toLowerCase() : id;
}
