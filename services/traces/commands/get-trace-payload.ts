import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  GetTracePayloadRequestSchema,
  GetTracePayloadResponseSchema,
} from "#proto/traces/v1/trace_inspection_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { invalidArgument, notFound } from "../../shared/rpc/errors.js";
import { quoted } from "../../shared/rpc/quoted.js";
import { textPage, textPageOf } from "../../shared/rpc/text-page.js";
import { readerOf } from "../access.js";
import type { Context } from "../context.js";
import { readPaged } from "../paged.js";
import { fieldOf } from "../span.js";
import { SpansOf } from "../spans-of.js";
import type { TraceRecord } from "../store.js";
import { tracesNamed } from "../trace-name.js";

const NAMED = 60;

/** Reads a page of one field of a span that the caller may read. */
export async function getTracePayload(
  { store, peers }: Context,
  request: MessageShape<typeof GetTracePayloadRequestSchema>,
  call: Call,
): Promise<MessageInitShape<typeof GetTracePayloadResponseSchema>> {
  const trace = await theTrace({ store, peers }, request.traceId, call);
  const spansOf = await SpansOf.read(store, trace._id);
  const span = request.spanId === "" ? await chosenOf(spansOf, trace, request.field) : request.spanId.toLowerCase();
  const id = `${trace._id}.${span}`;
  const fields = (await spansOf.find(span))?.fields ?? (await store.payloads.findOne({ _id: id }))?.fields;
  if (fields === undefined)
    throw notFound(`the trace has no span ${quoted(span)}: inspect_agent_traces returns its spans`);
  const field = fieldOf(fields, request.field);
  if (field === undefined) {
    const names = fields.map((entry) => entry.field);
    const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
    throw notFound(`the span has no field ${quoted(request.field)}; it has ${names.slice(0, NAMED).join(", ")}${more}`);
  }
  const { page, pageBytes } = request;
  if ("text" in field) return { ...textPage(field.text, page, pageBytes), json: field.json };
  const read = (from: number, to: number) => readPaged(store.pages, id, field, from, to);
  return { ...(await textPageOf(field.bytes, read, page, pageBytes)), json: field.json };
}

async function theTrace({ store, peers }: Pick<Context, "store" | "peers">, id: string, call: Call) {
  const named = await tracesNamed(store, id, call.caller.id);
  const may = await readerOf(peers, call).mayRead(named);
  const parts = named.filter((_, i) => may[i]);
  if (parts.length === 0) throw notFound(`no trace that you can read has the id ${id}`);
  if (parts.length > 1) {
    throw invalidArgument(
      `several users sent parts of this trace; give the id of one: ${parts.map((p) => p._id).join(", ")}`,
    );
  }
  return parts[0]!;
}

/** The outermost span; for an input that it does not have, the first that has one, as lists show it. */
async function chosenOf(spansOf: SpansOf, trace: TraceRecord, field: string): Promise<string> {
  const hasOwn = trace.fields?.some((one) => one.field === "input") === true;
  const told = field === "input" && !hasOwn ? trace.first_input?.[0] : undefined;
  if (told !== undefined) return told.span_id;
  if (trace.root !== undefined) return trace.root;
  const [first] = (await spansOf.page(undefined, 1)).items;
  if (first === undefined) throw notFound("the spans of this trace have expired");
  return first.span_id;
}
