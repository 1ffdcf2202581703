// The Vercel AI SDK: messages of a run, messages and stream of its UI, and telemetry spans.
// node vercel.mjs FOLDER_WITH_NODE_MODULES SAMPLES PLAN, with PLAN as written by record_samples.py
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import fs from 'node:fs';
import path from 'node:path';

const [folder, samples, planFile] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(folder), 'x.js'));
const load = async name => {
  const file = require.resolve(name);
  return import(pathToFileURL(file).href);
};
const plan = JSON.parse(fs.readFileSync(planFile));
const ai = await load('ai');
const test = await load('ai/test');
const { z } = await load('zod');
const sdk = await load('@opentelemetry/sdk-trace-base');
const { AsyncLocalStorageContextManager } = await load('@opentelemetry/context-async-hooks');
const { context } = await load('@opentelemetry/api');
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const version = JSON.parse(fs.readFileSync(path.join(folder, 'node_modules/ai/package.json'))).version;
const major = Number(version.split('.')[0]);
const Mock = test.MockLanguageModelV4 ?? test.MockLanguageModelV3 ?? test.MockLanguageModelV2;

const log = [];
const tools = {
  web_search: ai.tool({
    description: 'Search the web for pages about a query.',
    inputSchema: z.object({ query: z.string() }),
    execute: async ({ query }) => {
      const entry = { tool: 'web_search', query };
      log.push(entry);
      if (!(query in plan.pages)) {
        entry.error = true;
        throw new Error('HTTP 503: the search service is not available');
      }
      entry.results = plan.pages[query].length;
      return { results: plan.pages[query] };
    },
  }),
  fetch_page: ai.tool({
    description: 'Open a web page and return its text.',
    inputSchema: z.object({ url: z.string() }),
    execute: async ({ url }) => { log.push({ tool: 'fetch_page', url }); return plan.page; },
  }),
  calculator: ai.tool({
    description: 'Compute an arithmetic expression.',
    inputSchema: z.object({ expression: z.string() }),
    execute: async () => { log.push({ tool: 'calculator' }); return '1554'; },
  }),
};
const counts = () => {
  const searches = log.filter(e => e.tool === 'web_search');
  return {
    searches: searches.length,
    results: searches.reduce((sum, e) => sum + (e.results ?? 0), 0),
    failed: searches.filter(e => e.error).length,
    empty: searches.filter(e => e.results === 0).length,
    opens: log.filter(e => e.tool === 'fetch_page').length,
    others: log.filter(e => e.tool === 'calculator').length,
    queries: searches.map(e => e.query),
  };
};

const usage = major >= 6
  ? { inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 20, text: 20, reasoning: 0 } }
  : { inputTokens: 100, outputTokens: 20, totalTokens: 120 };
const finishReason = reason => (major >= 6 ? { unified: reason, raw: reason } : reason);
const calls = step => (plan.steps[step] ?? []).map(([id, name, args]) => ({
  type: 'tool-call', toolCallId: id, toolName: name, input: JSON.stringify(args),
}));
let step = 0;
const model = () => new Mock({
  doGenerate: async () => {
    const content = calls(step++);
    return {
      finishReason: finishReason(content.length ? 'tool-calls' : 'stop'), usage, warnings: [],
      content: content.length ? content : [{ type: 'text', text: plan.answer }],
    };
  },
  doStream: async () => {
    const content = calls(step++);
    const text = [
      { type: 'text-start', id: 't' }, { type: 'text-delta', id: 't', delta: plan.answer.slice(0, 10) },
      { type: 'text-delta', id: 't', delta: plan.answer.slice(10) }, { type: 'text-end', id: 't' },
    ];
    return {
      stream: ai.simulateReadableStream({
        chunks: [
          { type: 'stream-start', warnings: [] }, ...(content.length ? content : text),
          { type: 'finish', finishReason: finishReason(content.length ? 'tool-calls' : 'stop'), usage },
        ],
      }),
    };
  },
});
const packages = { ai: version };
const save = (name, text, facts) => {
  fs.writeFileSync(path.join(samples, name), text);
  const entry = { file: name, packages, iterations: [2, 1, 1], ...facts, counts: counts() };
  fs.appendFileSync(process.env.SAMPLES_LOG ?? path.join(samples, 'manifest.log'), JSON.stringify(entry) + '\n');
};
const begin = () => { log.length = 0; step = 0; };
const stopWhen = (ai.stepCountIs ?? ai.isStepCount)(10);

// the messages of a run
begin();
let result = await ai.generateText({ model: model(), tools, stopWhen, messages: [{ role: 'user', content: plan.question }] });
save(`vercel-${major}-messages.json`, JSON.stringify([{ role: 'user', content: plan.question }, ...(result.responseMessages ?? result.response.messages)]) + '\n', { format: 'vercel' });

// the stream to the browser, and the messages that it becomes there
begin();
const streamed = ai.streamText({ model: model(), tools, stopWhen, messages: [{ role: 'user', content: plan.question }] });
const user = { id: 'm0', role: 'user', parts: [{ type: 'text', text: plan.question }] };
let messages;
const ui = ai.createUIMessageStream({
  originalMessages: [user],
  execute: ({ writer }) => writer.merge(ai.toUIMessageStream ? ai.toUIMessageStream({ stream: streamed.stream ?? streamed.fullStream, tools }) : streamed.toUIMessageStream()),
  onFinish: event => { messages = event.messages; },
});
const response = ai.createUIMessageStreamResponse({ stream: ui });
save(`vercel-${major}-ui-stream.sse`, await response.text(), { format: 'vercel' });
save(`vercel-${major}-ui-messages.json`, JSON.stringify(messages) + '\n', { format: 'vercel' });

// telemetry
if (major < 7) {
  begin();
  const exporter = new sdk.InMemorySpanExporter();
  const provider = new sdk.BasicTracerProvider({ spanProcessors: [new sdk.SimpleSpanProcessor(exporter)] });
  const tracer = provider.getTracer('ai');
  await ai.generateText({
    model: model(), tools, stopWhen, messages: [{ role: 'user', content: plan.question }],
    experimental_telemetry: { isEnabled: true, tracer, functionId: 'researcher' },
  });
  const value = v => Array.isArray(v) ? { arrayValue: { values: v.map(value) } }
    : typeof v === 'string' ? { stringValue: v } : typeof v === 'boolean' ? { boolValue: v }
    : Number.isInteger(v) ? { intValue: String(v) } : { doubleValue: v };
  const nanos = ([s, n]) => String(BigInt(s) * 1000000000n + BigInt(n));
  const spans = exporter.getFinishedSpans().map(s => ({
    traceId: s.spanContext().traceId, spanId: s.spanContext().spanId, parentSpanId: s.parentSpanContext?.spanId,
    name: s.name, startTimeUnixNano: nanos(s.startTime), endTimeUnixNano: nanos(s.endTime),
    attributes: Object.entries(s.attributes).map(([key, v]) => ({ key, value: value(v) })), status: { code: s.status.code, message: s.status.message },
  }));
  save(`vercel-${major}-telemetry.json`, JSON.stringify({ resourceSpans: [{ resource: { attributes: [] }, scopeSpans: [{ scope: { name: 'ai' }, spans }] }] }) + '\n', { format: 'vercel-telemetry', spans: spans.length, tokens: 600 });
}
