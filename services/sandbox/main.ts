import { oneOf, optional, port, readConfig, text, url } from "../shared/process/config.js";
import { createLog } from "../shared/process/log.js";
import { startAevSandbox } from "./aev/server.js";
import { startCtiSandbox } from "./cti/server.js";
import { startGrcSandbox } from "./grc/server.js";
import { keepRegistered } from "./registration.js";

// A built-in platform in a process of its own: it trusts the service by its
// address and registers itself there, as a real platform does.

const OPTIONS = {
  platform: { doc: "Which platform: cti, aev or grc.", parse: oneOf("cti", "aev", "grc") },
  host: { doc: "The address to listen on.", parse: text, fallback: "127.0.0.1" },
  port: { doc: "The port to listen on; 0 for any free one.", parse: port, fallback: 0 },
  publicUrl: optional({ doc: "What the platform calls itself; its own address where left out.", parse: url }),
  trust: { doc: "The base URL of the service whose tokens it trusts.", parse: url },
  registrationToken: optional({
    doc: "What it presents to register itself; it does not register where left out.",
    parse: text,
    secret: true,
  }),
};

const STARTERS = { cti: startCtiSandbox, aev: startAevSandbox, grc: startGrcSandbox };

/** What each kind says of itself when it registers. */
const KINDS = {
  cti: { platform_identifier: "opencti", business_vertical: "cti", platform_title: "Sandbox threat intelligence" },
  aev: { platform_identifier: "openaev", business_vertical: "aev", platform_title: "Sandbox exposure validation" },
  grc: {
    platform_identifier: "ciso-assistant",
    business_vertical: "grc",
    platform_title: "Sandbox governance, risk, compliance",
  },
};

async function main(): Promise<void> {
  const settings = readConfig(OPTIONS, process.argv.slice(2), process.env);
  const { platform, host, trust, publicUrl, registrationToken } = settings;
  const where = { host, port: settings.port, trust, ...(publicUrl !== undefined && { publicUrl }) };
  const sandbox = await STARTERS[platform](where);
  const ending = [() => sandbox.close()];
  if (registrationToken !== undefined) {
    const said = {
      ...KINDS[platform],
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
