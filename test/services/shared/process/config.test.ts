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
    "--cti-url (or CTI_URL) must be an address that a platform can have: 169.254.169.254 is a link-local address; " +
      "--aev-url (or AEV_URL) must have neither a query (?) nor a fragment (#)",
  );
  expect(readConfig(options, [], { CTI_URL: "http://127.0.0.1:9/x/" }).ctiUrl).toBe("http://127.0.0.1:9/x");
});

test("what is called, and through which proxy, is read entry by entry, and what is wrong is said at once", () => {
  const given = " 127.0.0.1, [::1]:8080,10.0.0.0/8,fd00::/8,Models.Corp.example.:8443,localhost ";
  expect(readConfig(options, [], { OUTGOING_ALLOW: given }).outgoingAllow).toHaveLength(6);
  const [allow, proxy] = [
    /OUTGOING_ALLOW\) must be addresses, ranges/,
    /OUTGOING_PROXY\) must be a URL with only a scheme, a host/,
  ];
  for (const entry of [
    "",
    "10.0.0.0/33",
    "fd00::/129",
    "corp/8",
    "*.corp.example",
    "a:0",
    "a:65536",
    "http://a",
    "a b",
    "::1/",
    "x@y",
  ]) {
    const wrong = () =>
      readConfig(options, [], { OUTGOING_ALLOW: `127.0.0.1,${entry}`, OUTGOING_PROXY: "http://proxy/path", PORT: "x" });
    expect(wrong, entry).toThrow(allow);
    expect(wrong, entry).toThrow(proxy);
    expect(wrong, entry).toThrow(/PORT\) must be a port/);
  }
  for (const url of ["proxy:3128", "socks5://proxy:1080", "http://", "http://proxy?x"])
    expect(() => readConfig(options, [], { OUTGOING_PROXY: url }), url).toThrow(/OUTGOING_PROXY/);
  expect(readConfig(options, [], { OUTGOING_PROXY: "http://us%40er:pass@proxy:3128" }).outgoingProxy).toContain(
    "us%40er",
  );
});
