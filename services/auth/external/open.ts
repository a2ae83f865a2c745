import { type ExternalSetting, readExternal } from "../../shared/credentials/external-setting.js";
import type { OutgoingPolicy } from "../../shared/outgoing/policy.js";
import type { Log } from "../../shared/process/log.js";
import type { Context } from "../context.js";
import type { AuthorizationServer } from "../oauth/authorization-server.js";
import { createClientFetch } from "../oauth/fetch-client.js";
import { createIssuers, type Issuer } from "../oauth/id-jag/issuers.js";
import { layOutResources } from "../oauth/resources.js";
import { createExternalCredentials, type ExternalCredentials } from "./credentials.js";
import { createExternalTokens } from "./verify.js";

/** What the access tokens of others are taken with. */
export interface ExternalOptions {
  /** The text of the setting. */
  readonly external: string;
  readonly publicUrls: Readonly<Record<string, string>>;
  readonly outgoing: OutgoingPolicy;
  readonly log: Log;
}

/** Puts together what takes access tokens of an authorization server of others; its keys are read with the first token. */
export function openExternal(
  context: Pick<Context, "store" | "auditor" | "emailDomains" | "verification" | "issuer">,
  { external, publicUrls, outgoing, log }: ExternalOptions,
): ExternalCredentials {
  const setting: ExternalSetting = readExternal(external);
  const resources = layOutResources(context.issuer, publicUrls);
  const { issuer: url, algorithms } = setting;
  const { keys } = createIssuers([{ url, algorithms }], createClientFetch(outgoing)).get(url) as Issuer;
  const tokens = createExternalTokens({ ...setting, keys }, resources.all);
  return createExternalCredentials({ context, setting, tokens, resources, log });
}

const NOTHING = new TextEncoder().encode(
  JSON.stringify({
    error: "not_found",
    error_description: "This service has an external authorization server: the metadata of its MCP endpoints name it.",
  }),
);

/** Where another authorization server stands in for ours, there is nothing at the addresses of ours. */
export const NO_AUTHORIZATION_SERVER: AuthorizationServer = {
  async handle() {
    return { status: 404, headers: [{ name: "content-type", value: "application/json" }], body: NOTHING };
  },
};
