/** Serves what the parent asks for in its first message, and says the port. Ends with the parent. */
export function serveAsAsked<Asked>(serve: (asked: Asked) => Promise<number>): void {
  process.once("message", async (asked) => process.send?.({ port: await serve(asked as Asked) }));
  process.on("disconnect", () => process.exit());
  process.on("SIGTERM", () => process.exit());
}
