import { expect, test } from "vitest";
import { pageOf } from "../../../../services/core-objects/knowledge/apart/charset.js";
import { markdownOf } from "../../../../services/core-objects/knowledge/apart/html.js";

test("a row of a table stays on one line, also where its cells have paragraphs and lists", () => {
  const html = `<table><tr><th><p>Port</p></th><th><p>Service</p></th></tr>
    <tr><td><p>443</p></td><td><p>HTTPS</p><ul><li>TLS 1.3</li></ul></td></tr></table><p>After it.</p>`;
  expect(markdownOf(html)).toBe("| Port | Service\n\n| 443 | HTTPS TLS 1.3\n\nAfter it.");
});

test("a heading in a table that lays a page out is a heading", () => {
  expect(markdownOf("<table><tr><td><h2>Scope</h2><p>All hosts.</p></td></tr></table>")).toContain("## Scope");
});

test("what nobody sees is left out, and what follows it is not", () => {
  const html = `<p>Seen.</p><div hidden><p>no<br>t</p><img src="x"></div><div style="display: none">not</div>
    <span aria-hidden="true">not</span><p style="visibility:hidden">not</p><p>Seen too.</p>`;
  expect(markdownOf(html)).toBe("Seen.\n\nSeen too.");
});

test("a page is read in the charset that it says, or that its bytes say", () => {
  const shiftJis = Buffer.from([...Buffer.from('<meta charset="Shift_JIS">'), 0x88, 0xc3, 0x8d, 0x86]);
  expect(pageOf(shiftJis)).toContain("暗号");
  const old = '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">';
  expect(pageOf(Buffer.from(`${old}Schlüssel`, "latin1"))).toContain("Schlüssel");
  expect(pageOf(Buffer.from("Schlüssel", "latin1"))).toBe("Schlüssel");
  expect(pageOf(Buffer.from("Schlüssel"))).toBe("Schlüssel");
  expect(pageOf(Buffer.from("\ufeffkey", "utf16le"))).toBe("key");
  expect(pageOf(Buffer.from('<meta charset="nobody-knows">Schlüssel'))).toContain("Schlüssel");
});
