import "@fontsource-variable/inter/wght.css";
import "./styles.css";
import { TransportProvider } from "@connectrpc/connect-query";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { router } from "./routes";
import { readSession } from "./service/session";
import { queries, transport } from "./service/transport";
import { reloadOnce } from "./stale";
import { showTheme, theme } from "./theme";

showTheme(theme());
addEventListener("vite:preloadError", reloadOnce);
void readSession();

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <TransportProvider transport={transport}>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </TransportProvider>
  </StrictMode>,
);
