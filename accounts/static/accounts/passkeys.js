// What went wrong with a passkey, in one sentence on the page; allauth's script would only tell the console.

const SENTENCES = {
  NotAllowedError: "No passkey was used: it was cancelled, or it took too long.",
  InvalidStateError: "This device holds a passkey for the account already.",
  NotSupportedError: "This device can't make such a passkey.",
  SecurityError: "Passkeys need this site's own address, over HTTPS or on localhost.",
};

document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const place = document.getElementById("passkey-error");
  place.textContent = SENTENCES[event.detail.exception?.name] ?? "The passkey could not be used. Try again.";
  place.hidden = false;
});
