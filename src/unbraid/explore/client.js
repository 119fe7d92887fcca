// The decoder: a worker in this page, or the server of the page.
"use strict";

// A function from rows of codes and their conditions to a promise of the observations.
function decoderOf(content) {
  if (content.served) return servedDecoder();
  if (!content.program) return null;
  return workerDecoder(content.program);
}

function workerDecoder(program) {
  const source = document.getElementById("decoder").textContent;
  const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const waiting = new Map();
  let number = 0, begun, failed;
  const ready = new Promise((resolve, reject) => { [begun, failed] = [resolve, reject]; });
  worker.onmessage = ({ data }) => {
    if (data.ready) return begun();
    waiting.get(data.number)(data.out);
    waiting.delete(data.number);
  };
  worker.onerror = ({ message }) => failed(new Error(message));
  worker.postMessage({ program });
  return async (codes, condition) => {
    await ready;
    return new Promise((resolve) => {
      waiting.set(++number, resolve);
      worker.postMessage({ number, codes, condition });
    });
  };
}

// Sends codes and then conditions in float32; receives observations in float32.
function servedDecoder() {
  return async (codes, condition) => {
    const body = new Float32Array(codes.length + condition.length);
    body.set(codes);
    body.set(condition, codes.length);
    const headers = { "Content-Type": "application/octet-stream" };
    const send = () => fetch("decode", { method: "POST", body, headers });
    const answer = await send().catch(send);  // again, if the server has just closed an idle connection
    if (!answer.ok) throw new Error(await answer.text());
    return new Float32Array(await answer.arrayBuffer());
  };
}

// Decodes one request at a time, the most urgent first. A newer request of the same name replaces the older one.
class Queue {
  constructor(decode, showError) {
    this.decode = decode;
    this.showError = showError;
    this.waiting = new Map();
    this.busy = false;
  }

  // `urgency` 0 precedes 1; `show` receives the decoded observations.
  ask(name, urgency, codes, condition, show) {
    this.waiting.delete(name);
    this.waiting.set(name, { urgency, codes, condition, show });
    if (!this.busy) this.work();
  }

  drop(prefix) {
    for (const name of [...this.waiting.keys()]) if (name.startsWith(prefix)) this.waiting.delete(name);
  }

  async work() {
    this.busy = true;
    try {
      while (this.waiting.size) {
        const [name, next] = [...this.waiting].reduce((a, b) => (b[1].urgency < a[1].urgency ? b : a));
        this.waiting.delete(name);
        next.show(await this.decode(next.codes, next.condition));
      }
    } catch (error) {
      this.waiting.clear();
      this.showError(error);
    } finally {
      this.busy = false;
    }
  }
}
