import type { Message } from "@bufbuild/protobuf";
import { LRUCache } from "lru-cache";
import { serviceOf } from "../../services/shared/rpc/service.js";
import { type CallableTool, createCallableTool } from "../../services/shared/tools/callable-tool.js";
import { showHidden } from "../../services/shared/tools/codec/hidden-characters.js";
import { TENANT_MEMBER } from "../../services/shared/tools/tenant.js";
import type { Tool } from "../../services/shared/tools/tools.js";
import { quotedJson } from "./quoted-json.js";

/** A tool with everything that a request needs of it prepared. */
export interface ServedTool extends CallableTool {
  /** The name of the service that answers it: the audience of its assertion. */
  readonly service: string;
  /**
   * The members of the tool's result: content, and structuredContent where it has one.
   *
   * @param tenant the tenant of the result, which its JSON then names.
   */
  encode(result: Message, tenant?: NamedTenant): string;
}

/** A tenant as results name it. */
export interface NamedTenant {
  readonly id: string;
  /** "" if it is not known. */
  readonly name: string;
}

/**
 * Characters that hide in texts are written out, and read back, on every server: documents, names and payloads of our
 * own objects are other people's texts too. Places in a text, such as start_byte, stay those of the original.
 */
const SHOWS_HIDDEN = true;

/** The most text of results that is kept, in characters. */
const MAX_KEPT = 1 << 20;

/** The members of results that nobody can change, such as a page that a service keeps. */
const kept = new LRUCache<Message, string>({ maxSize: MAX_KEPT });

/** Prepares a tool; its codec is compiled at the first call. */
export function serveTool(tool: Tool): ServedTool {
  const callable = createCallableTool(tool, SHOWS_HIDDEN);
  return {
    ...callable,
    service: serviceOf(tool.method) ?? "",
    encode(result, tenant) {
      // No two tools have results of one type, so that what was encoded was encoded here.
      if (tenant !== undefined || !Object.isFrozen(result)) return encoded(callable, result, tenant);
      let members = kept.get(result);
      if (members === undefined) {
        members = encoded(callable, result);
        kept.set(result, members, { size: members.length });
      }
      return members;
    },
  };
}

function encoded(callable: CallableTool, result: Message, tenant?: NamedTenant): string {
  const own = callable.textOf(result);
  if (callable.isContent) return own;
  const text = tenant === undefined ? own : withTenant(own, tenant);
  return `"content":[{"type":"text","text":${quotedJson(text)}}],"structuredContent":${text}`;
}

/** A JSON object with the tenant as its first member. */
function withTenant(text: string, { id, name }: NamedTenant): string {
  const said = JSON.stringify({ id, ...(name !== "" && { name: showHidden(name) }) });
  return `{"${TENANT_MEMBER}":${said}${text === "{}" ? "" : ","}${text.slice(1)}`;
}
