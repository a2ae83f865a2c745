import type { JsonObject } from "@bufbuild/protobuf";
import { CustomToolSchema, CustomToolService } from "#proto/core/v1/custom_tool_service_pb.js";
import { defineKind } from "../../objects/define-kind.js";
import { given } from "../../objects/given.js";
import type { Refer } from "../../objects/model.js";
import { headersAfter } from "./headers.js";
import { schemaText } from "./input-schema.js";
import type { CustomToolRecord } from "./record.js";
import { checkUrl } from "./url.js";
import { withoutStaying } from "./without-staying.js";

const { listCustomTools, getCustomTool, createCustomTool, updateCustomTool, deleteCustomTool } =
  CustomToolService.method;

const TIMEOUT_SECONDS = 30;

type Refers = Readonly<Record<"headers.variable", Refer[string]>>;

/** Custom tools: HTTP requests that an agent may make, described for models. */
export const kind = defineKind({
  noun: "custom tool",
  plural: "custom tools",
  message: CustomToolSchema,
  references: { "headers.variable": "variable" },
  detaching: { "headers.variable": "remove the header with update_custom_tool and remove_headers" },
  leadsElsewhere: (before, after) => new URL(before.url).origin !== new URL(after.url).origin,
  view: (record: CustomToolRecord, refer: Refers) => ({
    method: record.method,
    url: record.url,
    headers: (record.headers ?? []).map(({ name, value, variable }) => ({
      name,
      value,
      ...(variable !== "" && { variable: refer["headers.variable"](variable) }),
    })),
    inputSchema: record.input_schema === undefined ? undefined : (JSON.parse(record.input_schema) as JsonObject),
    timeoutSeconds: record.timeout_seconds,
  }),
  list: {
    rpc: listCustomTools,
    without: ["url", "input_schema"],
    hidden: ["headers", "timeoutSeconds", "owner", "sharing", "etag", "createdAt", "updatedAt"],
  },
  get: { rpc: getCustomTool },
  create: {
    rpc: createCustomTool,
    content({ method, url, inputSchema, headers, timeoutSeconds }, writer) {
      const schema = schemaText(inputSchema);
      checkUrl(url, schema);
      writer.checkAddress("url", url);
      return {
        method,
        url,
        input_schema: schema,
        headers: headersAfter([], headers),
        timeout_seconds: timeoutSeconds ?? TIMEOUT_SECONDS,
      };
    },
  },
  update: {
    rpc: updateCustomTool,
    changes({ name, method, url, inputSchema, putHeaders, removeHeaders, timeoutSeconds }, current, writer) {
      const schema = inputSchema === undefined ? current.input_schema : schemaText(inputSchema);
      checkUrl(url ?? current.url, schema);
      if (url !== undefined) writer.checkAddress("url", url);
      const isAnother = [url, timeoutSeconds].some((one) => one !== undefined) || putHeaders.length > 0;
      return {
        ...given({ name, method, url, timeout_seconds: timeoutSeconds }),
        ...((isAnother || removeHeaders.length > 0) && { connection: null }),
        input_schema: schema,
        headers: headersAfter(current.headers, putHeaders, removeHeaders),
      };
    },
  },
  delete: { rpc: deleteCustomTool },
  leaving: { passed: withoutStaying },
});
