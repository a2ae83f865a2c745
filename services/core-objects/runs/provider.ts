import type { Call } from "../../shared/rpc/call.js";
import type { Context } from "../context.js";
import type { IntegrationRecord } from "../kinds/integrations/record.js";
import { filterOf } from "../policy.js";
import { fixed } from "./allowed.js";
import { RunEnd } from "./ending.js";
import type { Fixed, GivenAgent } from "./rights.js";

/** The integration that an agent's model comes from, and the model. */
export interface Provider {
  readonly integration: IntegrationRecord;
  readonly model: string;
}

const NO_MODEL =
  "no model is configured: create an integration with create_integration, which your runs of all agents then use, or ask an administrator to create a company-managed one for everyone";

/**
 * Where a run's model comes from when it begins: the agent's integration, else the company's, else the caller's own,
 * the oldest of those that are enabled.
 *
 * @throws RunEnd no_model, in a sentence that says what to do.
 */
export async function firstProvider(context: Context, agent: GivenAgent, call: Call): Promise<Fixed> {
  return fixedOf(await integrationOf(context, agent, call));
}

/** Where a run's fallback model comes from when it begins; null if the agent has none, or the caller cannot use it. */
export async function firstFallback(
  context: Context,
  agent: GivenAgent,
  first: Fixed,
  call: Call,
): Promise<Fixed | null> {
  const { fallback_model: model = "", fallback_integration: id = "" } = agent;
  if (id === "") return model === "" ? null : first;
  try {
    return fixedOf(await integrationOf(context, { integrations: [id] }, call));
  } catch (error) {
    if (error instanceof RunEnd) return null;
    throw error;
  }
}

function fixedOf(integration: IntegrationRecord): Fixed {
  const [found] = fixed(integration._id, endpointOf(integration), {});
  if (found === undefined) throw new RunEnd("no_model", NO_MODEL);
  return found;
}

/**
 * Where a run's model comes from now: from nowhere else than when it began.
 *
 * @param given the agent as it was when the run was triggered.
 * @param now the agent as it is.
 * @throws RunEnd no_model, in a sentence that says what to do.
 */
export async function providerOf(
  context: Context,
  first: Fixed,
  { given, now }: { readonly given: GivenAgent; readonly now: GivenAgent },
  call: Call,
): Promise<Provider> {
  const isNamed = now.integrations.length === 0 ? given.integrations.length === 0 : now.integrations.includes(first.id);
  return modelAt(context, first, { model: given.model, isNamed }, call);
}

/**
 * Where a run's fallback model comes from now, and which it is; undefined if the agent names another one by now, or none.
 *
 * @throws RunEnd no_model, in a sentence that says what to do.
 */
export async function fallbackOf(
  context: Context,
  fallback: Fixed,
  { given, now }: { readonly given: GivenAgent; readonly now: GivenAgent },
  call: Call,
): Promise<Provider | undefined> {
  const { fallback_model: model = "", fallback_integration: id = "" } = given;
  if ((now.fallback_model ?? "") !== model || (now.fallback_integration ?? "") !== id) return undefined;
  return modelAt(context, fallback, { model, isNamed: true }, call);
}

async function modelAt(
  context: Context,
  first: Fixed,
  { model: named, isNamed }: { readonly model: string; readonly isNamed: boolean },
  call: Call,
): Promise<Provider> {
  const integration = await integrationOf(context, { integrations: [first.id] }, call);
  const isSame = fixed(first.id, endpointOf(integration), {})[0]?.fingerprint === first.fingerprint;
  if (!isNamed || !isSame)
    throw new RunEnd(
      "no_model",
      `the model's endpoint changed after the run began, from ${integration.name} to another: trigger the run again`,
    );
  const model = named === "" ? integration.models[0] : named;
  if (model !== undefined && integration.models.includes(model)) return { integration, model };
  throw new RunEnd(
    "no_model",
    `the integration ${integration.name} has no model ${model}; it has ${integration.models.join(", ")}: choose another model with update_agent, or add this one with update_integration`,
  );
}

function endpointOf({ type, endpoint }: IntegrationRecord): object {
  return { type, endpoint };
}

async function integrationOf(
  context: Context,
  agent: Pick<GivenAgent, "integrations">,
  call: Call,
): Promise<IntegrationRecord> {
  const collection = context.collection<IntegrationRecord>("integration");
  const [id] = agent.integrations;
  if (id !== undefined) {
    const found = await collection.findOne({ _id: id, ...filterOf(call.caller, "read") });
    if (found?.enabled) return found;
    const why = found === null ? "was deleted or is not shared with you" : "is disabled";
    throw new RunEnd(
      "no_model",
      `no model is configured: the integration ${id} of the agent ${why}. Its owner can share or enable it, or you can attach another one with update_agent if you can change the agent`,
    );
  }
  const all = await collection.find({ ...filterOf(call.caller, "read") }, { sort: { _id: 1 }, limit: 1_000 }).toArray();
  const enabled = all.filter((one) => one.enabled);
  const found =
    enabled.find(({ origin }) => origin === "company") ?? enabled.find(({ owner }) => owner === call.caller.id);
  if (found === undefined) throw new RunEnd("no_model", NO_MODEL);
  return found;
}
