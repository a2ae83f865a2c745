import { writeFileSync } from "node:fs";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { PackageFormat, PackageService } from "#proto/catalogue/v1/package_service_pb.js";
import { SERVERS, type Server } from "../../../services/shared/platforms.js";
import { VERSION } from "../../../services/shared/process/version.js";
import { json } from "../../packages/contents.js";
import { clientOf } from "../client.js";
import type { Verb } from "../command.js";
import { UsageError } from "../failures.js";
import { publicAddresses } from "../public-addresses.js";
import { serverJson, UnlistableError } from "../server-json.js";

const FORMATS: Readonly<Record<string, PackageFormat>> = {
  "claude-code": PackageFormat.CLAUDE_CODE,
  mcpb: PackageFormat.MCPB,
  "agent-plugin": PackageFormat.AGENT_PLUGIN,
};

/** Packages that AI clients install. */
export const packages: readonly Verb[] = [
  {
    verb: "build",
    doc: "Build a package for one server. With --one-click it contains a new API key of yours; without, the client asks for one.",
    flags: {
      server: { doc: "The server.", required: true, choices: SERVERS },
      format: { doc: "The format.", required: true, choices: Object.keys(FORMATS) },
      "one-click": { doc: "Create an API key and write it in. The file is a secret then.", isSwitch: true },
      "expire-days": { doc: "Days until that key expires; 90 if omitted." },
      toolsets: { doc: "Only these toolsets, separated by commas; all if omitted." },
      exclude: { doc: "Toolsets and tools to leave out, separated by commas." },
      readonly: { doc: "Only tools that change nothing.", isSwitch: true },
      tenant: { doc: "The id of the tenant that all calls are for." },
      out: { doc: "The file to write; named after the package, in this folder, if omitted." },
    },
    async run(session, { flags }) {
      const { server, format, toolsets, exclude, readonly, tenant, out } = flags;
      const days = flags["expire-days"];
      if (days !== undefined && !/^[1-9]\d{0,2}$/.test(days))
        throw new UsageError("--expire-days takes a number of days, up to 365");
      const built = await clientOf(session, PackageService).buildPackage({
        server: server as string,
        format: FORMATS[format as string] as PackageFormat,
        oneClick: flags["one-click"] !== undefined,
        ...(days !== undefined && { expireDays: Number(days) }),
        toolsets: namesIn(toolsets),
        exclude: namesIn(exclude),
        readOnly: readonly !== undefined,
        tenant: tenant ?? "",
      });
      const file = out ?? built.fileName;
      // A key may be in it: nobody else reads the file.
      writeFileSync(file, built.content, { mode: 0o600 });
      const { key } = built;
      return {
        file,
        bytes: built.content.length,
        sha256: built.sha256,
        version: built.version,
        ...(key && {
          key: key.name,
          key_id: key.id,
          key_expires_at: key.expiresAt && timestampDate(key.expiresAt).toISOString(),
        }),
      };
    },
  },
  {
    verb: "server-json",
    doc: "Print the server.json of one server, with which you publish it in an MCP registry. It needs no key.",
    flags: {
      server: { doc: "The server.", required: true, choices: SERVERS },
      namespace: {
        doc: "The part of its name before the slash, such as com.example or io.github.example; the host of the service in reverse if omitted.",
      },
    },
    async run(session, { flags }) {
      const server = flags.server as Server;
      const { baseUrl, serviceName, endpoints } = await publicAddresses(session);
      const listing = { server, url: endpoints[server], baseUrl, serviceName, version: VERSION };
      try {
        return serverJson({ ...listing, namespace: flags.namespace });
      } catch (error) {
        if (error instanceof UnlistableError) throw new UsageError(error.message);
        throw error;
      }
    },
    shows: (answer) => json(answer as object).trimEnd(),
  },
];

function namesIn(text: string | undefined): string[] {
  return text === undefined ? [] : text.split(",").map((name) => name.trim());
}
