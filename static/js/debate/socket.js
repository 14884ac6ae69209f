// The connection to a debate: it asks for what the page lacks, says how far it has read, and comes back by itself.

const ACKNOWLEDGE = 2000; // milliseconds, as docs/live.md asks
const ASLEEP = 10000; // a timer this late means that the machine slept: the connection is no longer to be trusted
const LONGEST_WAIT = 15000;
const GONE = 4404;
const OVER = 1000;

// `after()` and `at()` say what the page has; `onFrame`, `onLost` and `onEnd(gone)` are told what happens.
export function connect({ url, after, at, onFrame, onLost, onEnd }) {
  let socket = null;
  let tries = 0;
  let waiting = null;
  let closed = false;
  let beat = Date.now();

  function open() {
    clearTimeout(waiting);
    const mine = (socket = new WebSocket(`${url}?after=${after()}`));
    mine.onmessage = ({ data }) => {
      if (mine !== socket) return;
      tries = 0;
      onFrame(JSON.parse(data));
    };
    mine.onclose = ({ code }) => mine === socket && lost(code);
  }

  function lost(code) {
    if (code === OVER || code === GONE) return end(code === GONE);
    onLost();
    const wait = Math.min(LONGEST_WAIT, 500 * 2 ** tries);
    tries += 1;
    waiting = setTimeout(open, wait * (0.5 + Math.random() / 2));
  }

  function end(gone) {
    closed = true;
    clearInterval(timer);
    onEnd(gone);
  }

  function acknowledge() {
    if (socket?.readyState === WebSocket.OPEN && at()) socket.send(JSON.stringify({ at: at() }));
  }

  function again() {
    if (closed) return;
    const old = socket;
    socket = null;
    old?.close();
    open();
  }

  const timer = setInterval(() => {
    const slept = Date.now() - beat > ASLEEP;
    beat = Date.now();
    if (slept) again();
    else acknowledge();
  }, ACKNOWLEDGE);
  addEventListener("online", again);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && socket?.readyState === WebSocket.CLOSED) again();
  });
  open();
  return { again, acknowledge };
}
