import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { PackageFormat, PackageService } from "#proto/catalogue/v1/package_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import type { Program } from "./program.js";
import { unzip } from "./unzip.js";

/** The formats, by the names that the command line gives them. */
export const FORMATS = {
  "claude-code": PackageFormat.CLAUDE_CODE,
  mcpb: PackageFormat.MCPB,
  "agent-plugin": PackageFormat.AGENT_PLUGIN,
} as const;

/** A package of a running service, as a file and unpacked. */
export interface Unpacked {
  readonly file: string;
  readonly version: string;
  readonly sha256: string;
  /** The folder that has the manifests: in the zips of plugins, the one folder in them. */
  readonly folder: string;
  readonly files: ReadonlyMap<string, Buffer>;
  /** The id of the key that is in it. */
  readonly keyId: string | undefined;
}

/** Has the service build packages for a person, and unpacks them with a strict reader below a folder. */
export function packagesOf({ baseUrl }: Pick<Program, "baseUrl">, apiKey: string, below: string) {
  const at = { baseUrl: `${baseUrl}/rpc`, apiKey, httpVersion: "1.1" as const, retries: 0 };
  const packages = connectClient(PackageService, at);
  const keys = connectClient(ApiKeyService, at);
  let count = 0;
  return {
    async build(server: string, format: keyof typeof FORMATS, oneClick = false): Promise<Unpacked> {
      const built = await packages.buildPackage({ server, format: FORMATS[format], oneClick });
      const { fileName, content, key, version, sha256 } = built;
      const own = join(below, `${server}-${format}-${oneClick ? "keyed" : "asking"}-${count++}`);
      const files = await unzip(content);
      for (const [path, body] of files) {
        mkdirSync(dirname(join(own, path)), { recursive: true });
        writeFileSync(join(own, path), body);
      }
      const file = join(own, fileName);
      writeFileSync(file, content);
      const folder = format === "mcpb" ? own : join(own, `sallyport-${server}`);
      return { file, version, sha256, folder, files, keyId: key?.id };
    },
    /** A key of the person for one server. */
    async createKey(server: string): Promise<{ readonly id: string; readonly token: string }> {
      const scopes = [`${server}:read`, `${server}:write`];
      const { key, token } = await keys.createApiKey({ name: `client of ${server}`, scopes });
      return { id: key?.id ?? "", token };
    },
    async revoke(id: string): Promise<void> {
      await keys.revokeApiKey({ id });
    },
  };
}
