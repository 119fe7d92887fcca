// Who decodes: a worker in this page, or the server that the page came from.
"use strict";

// A function from codes, row by row, and what is given with them, to a promise of the observations.
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
  return async (codes, given) => {
    await ready;
    return new Promise((resolve) => {
      waiting.set(++number, resolve);
      worker.postMessage({ number, codes, given });
    });
  };
}

// What is sent are the codes and then what is given, in float32; what comes back are the observations.
function servedDecoder() {
  return async (codes, given) => {
    const body = new Float32Array(codes.length + given.length);
    body.set(codes);
    body.set(given, codes.length);
    const headers = { "Content-Type": "application/octet-stream" };
    const answer = await fetch("decode", { method: "POST", body, headers });
    if (!answer.ok) throw new Error(await answer.text());
    return new Float32Array(await answer.arrayBuffer());
  };
}

// Asks for one thing at a time, the most urgent first; what was asked for again in the meantime is asked once.
class Queue {
  constructor(decode, complain) {
    this.decode = decode;
    this.complain = complain;
    this.waiting = new Map();
    this.busy = false;
  }

  // `urgency` 0 goes before 1; `show` gets what was decoded. A later request of a name takes the place of the earlier.
  ask(name, urgency, codes, given, show) {
    this.waiting.delete(name);
    this.waiting.set(name, { urgency, codes, given, show });
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
        next.show(await this.decode(next.codes, next.given));
      }
    } catch (error) {
      this.waiting.clear();
      this.complain(error);
    } finally {
      this.busy = false;
    }
  }
}
