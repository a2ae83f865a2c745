import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { RenderPromptRequestSchema, RenderPromptResponseSchema } from "#proto/core/v1/prompt_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import type { Context } from "../../context.js";
import { findNamed } from "../../objects/find-named.js";
import type { PromptRecord } from "./record.js";
import { fill } from "./template.js";
import { versionOf } from "./versions.js";

/** Fills a prompt's arguments in. */
export async function renderPrompt(
  context: Context,
  { prompt, arguments: values, version: asked }: MessageShape<typeof RenderPromptRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof RenderPromptResponseSchema>> {
  const record = await findNamed<PromptRecord>(context, "prompt", prompt, caller);
  const { template, arguments: args, version } = versionOf(record, asked);
  return { text: fill(template, args, values), version };
}
