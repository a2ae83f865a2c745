import type { ModelParameters } from "#proto/core/v1/agent_service_pb.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { quoted } from "../../../shared/rpc/quoted.js";
import { given } from "../../objects/given.js";
import type { Writer } from "../../objects/writer.js";
import type { AgentRecord, ModelSettings } from "./record.js";

// What an agent says of its model besides its name: settings, and which model answers in its place.

/** The fields of an agent's record that are of its model. */
export type ModelFields = Pick<AgentRecord, "parameters" | "fallback_model" | "fallback_integration">;

interface Given {
  readonly parameters?: ModelParameters | undefined;
  readonly fallbackModel?: string | undefined;
  readonly fallbackIntegrationId?: string | undefined;
}

/**
 * Those that a request gives.
 *
 * @throws ConnectError invalid_argument for an integration that the writer cannot see.
 */
export async function modelFieldsIn(request: Given, writer: Writer): Promise<ModelFields> {
  const { parameters, fallbackModel, fallbackIntegrationId: id } = request;
  if (id && (await writer.seen([id])).get("integration")?.includes(id) !== true)
    throw invalidArgument(
      `fallback_integration_id: no integration that you can see has the id ${quoted(id)}; list_available_resources returns the ids`,
    );
  return given({
    parameters: parameters && settingsOf(parameters),
    fallback_model: fallbackModel,
    fallback_integration: id,
  });
}

/** Those of another agent; the integration only if it is seen. */
export function modelFieldsOf(agent: ModelFields, isSeen: (id: string) => boolean): ModelFields {
  const { parameters, fallback_model, fallback_integration: id = "" } = agent;
  return given({ parameters, fallback_model, fallback_integration: isSeen(id) ? id : undefined });
}

/** Those of a new agent: what is given, else what its template has. */
export async function modelFieldsAfter(template: ModelFields, request: Given, writer: Writer): Promise<ModelFields> {
  const said = Object.entries(await modelFieldsIn(request, writer)).filter(([, value]) => value !== "");
  return { ...modelFieldsOf(template, () => true), ...Object.fromEntries(said) };
}

/** The settings as an agent shows them. */
export function parametersOf({ parameters }: AgentRecord) {
  if (parameters === undefined || Object.keys(parameters).length === 0) return undefined;
  const { temperature, top_p, max_output_tokens, reasoning_effort: reasoningEffort, stop = [] } = parameters;
  return {
    ...given({ temperature, topP: top_p, maxOutputTokens: max_output_tokens, reasoningEffort }),
    stop: [...stop],
  };
}

function settingsOf({ temperature, topP, maxOutputTokens, reasoningEffort, stop }: ModelParameters): ModelSettings {
  return {
    ...given({ temperature, top_p: topP, max_output_tokens: maxOutputTokens, reasoning_effort: reasoningEffort }),
    ...(stop.length > 0 && { stop }),
  };
}
