import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  TestIntegrationRequestSchema,
  TestIntegrationResponseSchema,
} from "#proto/core/v1/integration_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import type { Context } from "../../context.js";
import { keepConnection, stateOf } from "../../objects/connection.js";
import { readable } from "../../objects/gate.js";
import { listModels } from "../../runs/model.js";
import { failureOf } from "../../runs/outgoing.js";
import { createRedactor, shown } from "../../runs/redact.js";
import { credentialOf } from "../../runs/secrets.js";
import type { IntegrationRecord } from "./record.js";

const SHOWN = 200;

/** Asks an integration for its models, as a run would ask it, and keeps whether it answered. */
export async function testIntegration(
  context: Context,
  { integrationId }: MessageShape<typeof TestIntegrationRequestSchema>,
  { caller, signal }: Call,
): Promise<MessageInitShape<typeof TestIntegrationResponseSchema>> {
  const record = (await readable(context, "integration", integrationId, caller)) as IntegrationRecord;
  const redactor = createRedactor();
  let models: readonly string[] = [];
  let [answered, error] = [true, ""];
  try {
    const credential = credentialOf(context, record, redactor);
    const listed = await listModels(context, { integration: record, credential, signal });
    models = shown(listed, redactor);
    const missing = record.models.filter((model) => !models.includes(model));
    if (missing.length > 0) error = `it does not list ${missing.join(", ")}`;
  } catch (reason) {
    signal.throwIfAborted();
    [answered, error] = [false, failureOf(reason, redactor)];
  }
  const connection = { answered, error, tested_at: new Date() };
  await keepConnection(context, "integration", record, connection);
  return {
    connection: stateOf(connection),
    ...(error !== "" && { error }),
    models: models.slice(0, SHOWN),
  };
}
