/** A sentence and a fix for codes of the server. Its own message is under "Details". */
export const serverErrors = {
  already_exists: {
    said: 'This already exists.',
    help: 'Nothing was changed. Choose another name, or reload the list.',
  },
  approval_denied: {
    said: 'A member denied this use.',
    help: 'Ask them why, then send the request again.',
  },
  conflict: {
    said: 'Someone else changed this first.',
    help: 'Nothing was overwritten. Review their change and retry.',
  },
  epoch_conflict: {
    said: 'The workspace key was replaced meanwhile.',
    help: 'Nothing was changed. Retry with the new key.',
  },
  forbidden: {
    said: 'You don’t have permission for this.',
    help: 'Nothing was changed. Ask an owner or admin.',
  },
  internal_error: {
    said: 'The server failed.',
    help: 'Retry. If it fails again, send its operator the request ID.',
  },
  invalid_credentials: {
    said: 'Email or password is wrong.',
    help: 'Forgot it? Use your recovery key.',
  },
  last_owner: {
    said: 'A workspace needs an owner.',
    help: 'Make someone else an owner first.',
  },
  link_refused: {
    said: 'The signed change was rejected.',
    help: 'Nothing was changed. Reload the page and retry.',
  },
  link_required: {
    said: 'This workspace is signed, so this change needs a signature.',
    help: 'Nothing was changed. Reload the page and retry.',
  },
  not_found: {
    said: 'Not found, or you don’t have access.',
    help: 'Go back and reload the list.',
  },
  payload_too_large: {
    said: 'This is too large for the server.',
    help: 'Nothing was stored. Split it and retry.',
  },
  quota_exceeded: {
    said: 'You reached a limit of this server.',
    help: 'Delete something, or ask the operator for a higher limit.',
  },
  rate_limited: {
    said: 'Too many requests.',
    help: 'Wait a minute, then retry.',
  },
  unavailable: {
    said: 'The server is unavailable for a moment.',
    help: 'Wait a moment, then retry.',
  },
  unverified_state: {
    said: 'The stored data differs from what members signed.',
    help: 'Nothing was changed. Ask the server’s operator.',
  },
}
