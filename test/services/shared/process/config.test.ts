import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { options } from "../../../../services/launcher/config.js";
import { readConfig } from "../../../../services/shared/process/config.js";

test("a flag wins over the environment, which wins over the fallback", () => {
  const config = readConfig(options, ["--port=1"], { PORT: "2", GRPC_PORT: "3" });
  expect(config).toMatchObject({ port: 1, grpcPort: 3, host: "127.0.0.1", baseUrl: undefined });
});

test("everything that is wrong is said at once", () => {
  expect(() => readConfig(options, ["--port=x", "--sandbox=maybe"], { BASE_URL: "ftp://h" })).toThrow(
    "--port (or PORT) must be a port number, 0 to 65535; " +
      "--base-url (or BASE_URL) must be a URL that begins with http:// or https://; " +
      "--sandbox (or SANDBOX) must be on or off",
  );
});

test("an unknown flag is refused by name", () => {
  expect(() => readConfig(options, ["--prot=1"], {})).toThrow(/--prot/);
});

test("an empty variable counts as left out", () => {
  expect(readConfig(options, [], { PORT: "" }).port).toBe(8080);
});

test("a secret is also read from the file that NAME_FILE names", () => {
  const file = join(mkdtempSync(join(tmpdir(), "sallyport-")), "token");
  writeFileSync(file, "reg_from_file\n");
  expect(readConfig(options, [], { REGISTRATION_TOKEN_FILE: file }).registrationToken).toBe("reg_from_file");
  expect(readConfig(options, [], { CTI_URL_FILE: file }).ctiUrl).toBeUndefined();
});

test("a platform's address is one where a platform can be", () => {
  expect(() => readConfig(options, [], { CTI_URL: "http://169.254.169.254/", AEV_URL: "http://aev/?a" })).toThrow(
    "--cti-url (or CTI_URL) must be where a platform can be: 169.254.169.254 is a link-local address; " +
      "--aev-url (or AEV_URL) must have neither a query (?) nor a fragment (#)",
  );
  expect(readConfig(options, [], { CTI_URL: "http://127.0.0.1:9/x/" }).ctiUrl).toBe("http://127.0.0.1:9/x");
});
