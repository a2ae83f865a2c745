//! The official Rust SDK (rmcp on axum), by hand: no macros, no validation, no authentication.

use std::{collections::HashMap, env, fs, future::Future, sync::Arc};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::*,
    service::RequestContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::Value;

/// What it answers: a list of tools, and results by tool.
struct Fixture {
    tools: Vec<Tool>,
    results: HashMap<String, Value>,
}

#[derive(Clone)]
struct Peer(Arc<Fixture>);

impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListToolsResult, ErrorData>> + Send + '_ {
        std::future::ready(Ok(ListToolsResult::with_all_items(self.0.tools.clone())))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.0.results.get(request.name.as_ref()) {
            Some(result) => Ok(CallToolResult::structured(result.clone()).into()),
            None => Err(ErrorData::invalid_params("unknown tool", None)),
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(name: &str) -> T {
    let folder = env::var("FIXTURE").expect("FIXTURE is a folder");
    serde_json::from_slice(&fs::read(format!("{folder}/{name}")).expect(name)).expect(name)
}

#[tokio::main]
async fn main() {
    let peer = Peer(Arc::new(Fixture { tools: read("tools.json"), results: read("results.json") }));
    let config = StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true);
    let service = StreamableHttpService::new(move || Ok(peer.clone()), Arc::new(LocalSessionManager::default()), config);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("ready {}", listener.local_addr().unwrap().port());
    axum::serve(listener, axum::Router::new().fallback_service(service)).await.unwrap();
}
