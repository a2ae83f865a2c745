import { platformOf } from "../shared/platforms.js";
import { count, oneOf, optional, port, readConfig, text, url } from "../shared/process/config.js";
import { createLog } from "../shared/process/log.js";
import { keepRegistered } from "./registration.js";
import { SANDBOXES, startSandbox } from "./start.js";

// A built-in platform in a process of its own: it trusts the service by its
// address and registers itself there, as a real platform does.

const OPTIONS = {
  platform: { doc: `Which platform: ${SANDBOXES.join(", ")}.`, parse: oneOf(...SANDBOXES) },
  host: { doc: "The address to listen on.", parse: text, fallback: "127.0.0.1" },
  port: { doc: "The port to listen on; 0 for any free one.", parse: port, fallback: 0 },
  publicUrl: optional({
    doc: "The public address of the platform; the address that it listens on if omitted.",
    parse: url,
  }),
  trust: { doc: "The base URL of the service whose tokens it trusts.", parse: url },
  latencyMs: { doc: "The delay of every answer, in milliseconds, for load tests.", parse: count, fallback: 0 },
  registrationToken: optional({
    doc: "The token with which the platform registers itself; if omitted, it does not register.",
    parse: text,
    secret: true,
  }),
};

async function main(): Promise<void> {
  const settings = readConfig(OPTIONS, process.argv.slice(2), process.env);
  const { platform, host, trust, publicUrl, registrationToken, latencyMs } = settings;
  const where = { host, port: settings.port, trust, latencyMs, ...(publicUrl !== undefined && { publicUrl }) };
  const sandbox = await startSandbox(platform, where);
  const ending = [() => sandbox.close()];
  if (registrationToken !== undefined) {
    const { identifier, vertical, sandbox: title = platform } = platformOf(platform);
    const said = {
      platform_identifier: identifier,
      business_vertical: vertical,
      platform_title: title,
      platform_url: publicUrl ?? sandbox.url,
      platform_version: "sandbox",
      platform_id: platform,
    };
    const end = keepRegistered({ trust, token: registrationToken, platform: said, log: createLog("warn") });
    ending.unshift(async () => end());
  }
  const stop = async (): Promise<void> => {
    for (const end of ending) await end();
    process.exit(0);
  };
  process.on("SIGTERM", () => void stop()).on("SIGINT", () => void stop());
  process.stdout.write(`the ${platform} sandbox is ready at ${sandbox.url}\n`);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
}
