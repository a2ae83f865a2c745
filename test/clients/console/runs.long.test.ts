import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Asked, type Reply, results, startModel } from "../../services/core-objects/runs/model-server.js";
import { noChromium, startChromium } from "../../support/chromium.js";
import { type AtConsole, atConsole, type PersonAtConsole, withOwnPassword } from "../../support/console.js";
import { call } from "../../support/mcp.js";
import { type Program, startProgram } from "../../support/program.js";
import { titled } from "../../support/titled.js";

// Agents > Runs: what a person sees of runs that go on, ask, end well and end otherwise.

describe.skipIf(noChromium !== undefined)(titled("runs at the console", noChromium), () => {
  let program: Program;
  let chromium: Browser;
  let model: Awaited<ReturnType<typeof startModel>>;
  let analyst: PersonAtConsole;
  let admin: PersonAtConsole;
  let agent: string;
  let other: string;
  let reply: (asked: Asked) => Reply | Promise<Reply>;

  beforeAll(async () => {
    model = await startModel((asked) => reply(asked));
    program = await startProgram();
    chromium = await startChromium();
    analyst = await withOwnPassword(program, program.bootstrap.analyst);
    admin = await withOwnPassword(program, program.bootstrap.admin);
    const { integration } = await tool<{ integration: { id: string } }>("create_integration", {
      ...{ name: "Models", type: "openai", endpoint: `${model.url}/v1`, models: ["large"] },
    });
    const made = async (name: string, more: object) =>
      (await tool<{ agent: { id: string } }>("create_agent", { name, resource_ids: [integration.id], ...more })).agent
        .id;
    agent = await made("Night watch", { tools: ["cti/whoami", "core/list_runs"], ask_tools: ["core/list_runs"] });
    other = await made("Other", { tools: ["cti/whoami"] });
  });
  afterAll(async () => {
    await chromium?.close();
    await program?.stop();
    await model?.close();
  });

  const tool = <T>(name: string, args: object): Promise<T> =>
    call<T>(`${program.baseUrl}/mcp/core`, program.bootstrap.analyst.api_key, name, args);
  const trigger = async (input: string, more: object = {}): Promise<string> =>
    (await tool<{ run: { id: string } }>("trigger_run", { agent_id: agent, input, ...more })).run.id;
  async function visit(person: PersonAtConsole, path: string, work: (page: Page, at: AtConsole) => Promise<void>) {
    const at = await atConsole(chromium, program);
    try {
      await at.open(path);
      await at.signIn(person);
      await work(at.page, at);
    } finally {
      await at.close();
    }
  }
  /** An answer in pieces, each when it is asked for; or one that ends as a model's does that was stopped. */
  const streamed = (pieces: AsyncIterable<string> | readonly string[], finish = "stop"): Reply => ({
    respond: async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const send = (delta: object, finish_reason: string | null = null) =>
        response.write(
          `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "large", choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
        );
      send({ role: "assistant", content: "" });
      for await (const content of pieces) send({ content });
      send({}, finish);
      response.end(
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "large", choices: [], usage: { prompt_tokens: 1_234, completion_tokens: 10, total_tokens: 1_244 } })}\n\ndata: [DONE]\n\n`,
      );
    },
  });
  const facts = (page: Page, name: string) => page.locator("dt", { hasText: new RegExp(`^${name}$`) }).locator("+ dd");

  test("a run is followed: its steps and its model's text as they come, then its answer, tokens, and each step whole", async () => {
    let more = (): void => undefined;
    const held = new Promise<void>((done) => {
      more = done;
    });
    reply = (asked) => {
      if (results(asked).length === 0) return { call: "cti__whoami" };
      return streamed(
        (async function* () {
          yield "The first half of the answer, ";
          await held;
          yield "and the second half.";
        })(),
      );
    };
    const run = await trigger("Who am I at night?");
    await visit(analyst, `agents/runs/${run}`, async (page, at) => {
      await page.getByRole("heading", { name: "Night watch", level: 1 }).waitFor();
      const writing = page.getByRole("region", { name: "It writes" });
      await writing.getByText("The first half of the").waitFor();
      await page.getByText("In progress", { exact: true }).first().waitFor();
      await page.getByRole("button", { name: "Open step 2: cti/whoami" }).waitFor();
      expect(await at.lookEverywhere("run-going")).toEqual([]);
      more();
      await page
        .getByRole("region", { name: "Answer", exact: true })
        .getByText("The first half of the answer, and the second half.")
        .waitFor();
      await writing.waitFor({ state: "detached" });
      await page.getByText("Completed", { exact: true }).first().waitFor();
      await page.getByRole("button", { name: "Open step 3: large" }).waitFor();
      expect(await facts(page, "Model").innerText()).toBe("large");
      expect(await facts(page, "Tokens read").innerText()).toMatch(/^1,[23]\d\d$/);
      expect(await page.getByRole("button", { name: "Stop" }).count()).toBe(0);
      expect(await at.lookEverywhere("run-completed")).toEqual([]);
      // By keyboard: a step whole, and back to its button.
      const step = page.getByRole("button", { name: "Open step 2: cti/whoami" });
      await step.focus();
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog");
      await dialog.getByText(program.bootstrap.analyst.email).waitFor();
      expect(await at.lookEverywhere("run-step")).toEqual([]);
      await page.keyboard.press("Escape");
      await expect
        .poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')"))
        .toBe("Open step 2: cti/whoami");
    });
  });

  test("a run that asks before it calls a tool shows the call, and goes on after a yes", async () => {
    reply = (asked) =>
      results(asked).length === 0 ? { call: "core__list_runs" } : `It said ${results(asked).length}.`;
    const run = await trigger("Look at my runs");
    await visit(analyst, `agents/runs/${run}`, async (page, at) => {
      await page.getByText("Waits for you", { exact: true }).first().waitFor();
      const question = page.getByRole("region", { name: "It asks before it calls a tool" });
      await question.getByText("core/list_runs").first().waitFor();
      expect(await at.lookEverywhere("run-asks")).toEqual([]);
      await question.getByLabel("Words for the agent, if you like").fill("Only this once");
      await question.getByRole("button", { name: "Allow the call" }).press("Enter");
      await page.getByRole("region", { name: "Answer", exact: true }).getByText("It said 1.").waitFor();
      await page.getByText("You said yes").waitFor();
      expect(await question.count()).toBe(0);
    });
  });

  test("a question is answered by keyboard; an answer that came too late, or is lost, says so", async () => {
    reply = (asked) =>
      results(asked).length === 0 ? { call: "ask_user", args: { question: "Which host?" } } : `So ${results(asked)[0]}`;
    const run = await trigger("Look at a host");
    await visit(analyst, `agents/runs/${run}`, async (page, at) => {
      const question = page.getByRole("region", { name: "It asks you" });
      await question.getByText("Which host?").waitFor();
      const send = question.getByRole("button", { name: "Send answer" });
      expect(await send.isDisabled()).toBe(true);
      await question.getByLabel("Your answer").focus();
      await page.keyboard.type("web-1");
      await expect.poll(() => question.getByLabel("Your answer").inputValue()).toBe("web-1");
      await expect.poll(() => send.isEnabled()).toBe(true);
      await page.keyboard.press("Tab");
      await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Send answer");
      await page.route("**/rpc/*RunService/UpdateRun", (route) => route.abort("connectionreset"));
      await page.keyboard.press("Enter");
      await page.getByText(/whether it was done is not known/).waitFor();
      expect(await at.lookEverywhere("run-answer-lost")).toEqual([]);
      await page.unroute("**/rpc/*RunService/UpdateRun");
      await send.press("Enter");
      await page.getByRole("region", { name: "Answer", exact: true }).getByText("web-1").waitFor();
    });
    const late = await trigger("Look at another host");
    await visit(analyst, `agents/runs/${late}`, async (page, at) => {
      const question = page.getByRole("region", { name: "It asks you" });
      await question.getByLabel("Your answer").fill("web-2");
      // What the page knows stays as it is, as if it was read a moment ago.
      await page.route("**/rpc/*RunService/GetRun", (route) => route.abort("connectionreset"));
      await tool("update_run", { run_id: late, answer: "web-3" });
      await question.getByRole("button", { name: "Send answer" }).click();
      await page.getByText("The run changed since you opened it").waitFor();
      expect(await at.look("run-answer-late")).toEqual([]);
      await page.unroute("**/rpc/*RunService/GetRun");
      await page.getByRole("button", { name: "Show it as it is" }).click();
      await page.getByRole("region", { name: "Answer", exact: true }).getByText("web-3").waitFor();
    });
  });

  test("a run that waits is stopped, and says so; a cut and a filtered answer are called that", async () => {
    reply = () => ({ call: "core__list_runs" });
    const stopped = await trigger("To be stopped");
    await visit(analyst, `agents/runs/${stopped}`, async (page, at) => {
      await page.getByText("Waits for you", { exact: true }).first().waitFor();
      await page.getByRole("button", { name: "Stop", exact: true }).click();
      await page.getByRole("alertdialog").waitFor();
      expect(await at.lookEverywhere("run-stop")).toEqual([]);
      await page.getByRole("button", { name: "Stop run" }).click();
      await page.getByText("Cancelled", { exact: true }).first().waitFor();
      expect(await page.getByRole("button", { name: "Stop", exact: true }).count()).toBe(0);
    });
    for (const [finish, word] of [
      ["length", "Cut"],
      ["content_filter", "Filtered"],
    ] as const) {
      reply = () => streamed(["A beginning."], finish);
      const run = await trigger(`Ends with ${finish}`);
      await visit(analyst, `agents/runs/${run}`, async (page, at) => {
        await page.getByRole("alert").getByText(word, { exact: true }).waitFor();
        expect(await at.lookEverywhere(`run-${finish}`)).toEqual([]);
      });
    }
  });

  test("the list has the person's own runs, by state and agent, in an address; nobody else sees them", async () => {
    reply = () => "Done.";
    const mine = await trigger("Of the other agent", { agent_id: other, wait_seconds: 20 });
    const before = (await tool<{ runs: unknown[] }>("list_runs", { page_size: 100 })).runs.length;
    for (let n = before; n < 27; n++) await trigger(`Task number ${n}`, { wait_seconds: 20 });
    await visit(analyst, "agents/runs", async (page, at) => {
      await page.getByRole("rowheader").first().waitFor();
      expect(await page.getByRole("rowheader").count()).toBe(25);
      expect(await at.lookEverywhere("runs")).toEqual([]);
      await page.getByRole("button", { name: "Next" }).click();
      await expect.poll(() => page.getByRole("rowheader").count()).toBe(2);
      await at.open(`agents/runs?agent=${other}`);
      await page.getByRole("link", { name: "Of the other agent" }).waitFor();
      expect(await page.getByRole("rowheader").count()).toBe(1);
      await at.open("agents/runs?state=cancelled");
      await page.getByRole("link", { name: "To be stopped" }).waitFor();
      expect(await page.getByRole("rowheader").count()).toBe(1);
      await page.getByRole("link", { name: "To be stopped" }).press("Enter");
      await page.getByRole("heading", { name: "Night watch", level: 1 }).waitFor();
    });
    // Not an administrator either.
    await visit(admin, "agents/runs", async (page, at) => {
      await page.getByText("No runs", { exact: true }).waitFor();
      expect(await at.lookEverywhere("runs-none")).toEqual([]);
      await at.open(`agents/runs/${mine}`);
      await page.getByText("You have no run with the id").waitFor();
      const status = await page.evaluate(async (id) => {
        const answer = await fetch("/rpc/core.v1.RunService/GetRun", {
          ...{ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ runId: id }) },
        });
        return answer.status;
      }, mine);
      expect(status).toBe(404);
      expect(await at.look("run-not-mine")).toEqual([]);
    });
  });

  test("a long run comes a page of steps at a time", async () => {
    reply = (asked) => (results(asked).length < 40 ? { call: "cti__whoami" } : "At last.");
    const run = await trigger("Many steps", { max_steps: 100, wait_seconds: 50 });
    await visit(analyst, `agents/runs/${run}`, async (page) => {
      await page.getByRole("region", { name: "Answer", exact: true }).getByText("At last.").waitFor();
      await page.getByRole("button", { name: "Open step 50: " }).waitFor();
      expect(await page.getByRole("rowheader").count()).toBe(50);
      await page.getByRole("button", { name: "Next" }).click();
      await page.getByRole("button", { name: "Open step 81: large" }).waitFor();
      expect(await page.getByRole("rowheader").count()).toBe(31);
    });
  });
});
