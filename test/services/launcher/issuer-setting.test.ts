import { expect, test } from "vitest";
import { readIssuer } from "../../../services/launcher/issuer-setting.js";

test("an entry is a URL, algorithms, and a tenant if there is one", () => {
  const url = "https://idp.example.com/";
  expect(readIssuer(` ${url}  RS256 ES256 `)).toEqual({ url, algorithms: ["RS256", "ES256"], tenant: undefined });
  expect(readIssuer(`${url} RS256 tenant=acme`)).toEqual({ url, algorithms: ["RS256"], tenant: "acme" });
});

test.each([
  "",
  "https://idp.example.com",
  "https://idp.example.com HS256",
  "https://idp.example.com none",
  "https://idp.example.com tenant=acme",
  "https://idp.example.com RS256 tenant=",
  "https://idp.example.com RS256 tenant=a tenant=b",
  "ftp://idp.example.com RS256",
  "https://idp.example.com?x RS256",
])("%j is refused", (entry) => {
  expect(() => readIssuer(entry)).toThrow(/must be an issuer's URL/);
});
