/** A sentence and a fix for each error code. Without a sentence here, the page shows the error's own message. */
import { connectErrors } from './connecting.ts'
import { serverErrors } from './server.ts'

type Words = { said?: string; help?: string }

const byCode: Record<string, Words> = {
  ...connectErrors,
  ...serverErrors,
  unreachable: {
    said: 'The server is unavailable.',
    help: 'Check your connection, then retry.',
  },
  lost_answer: {
    said: 'The server didn’t answer, so your change may have been saved.',
    help: 'Check your connection, and look before you retry.',
  },
  lost_token: {
    said: 'The server didn’t answer, so the token may exist.',
    help: 'If it’s in the list, revoke it and create another.',
  },
  unusable_answer: {
    said: 'This isn’t a response from Cloakroom.',
    help: 'A gateway may have answered. Retry, or ask its operator.',
  },
  locked: {
    said: 'Your keys are locked.',
    help: 'Unlock to continue.',
  },
  worker_failed: {
    said: 'The key worker stopped.',
    help: 'Reload the page. If it happens again, update your browser.',
  },
  session_ended: {
    said: 'Your session ended.',
    help: 'It expired, or was signed out elsewhere. Sign in again.',
  },
  no_address: {
    said: 'The server has no usable address.',
    help: 'Ask its operator to check SERVICE_SERVER_URL and SERVICE_RESOLVER_URL.',
  },
  no_signing_key: {
    said: 'This account has no signing key.',
    help: 'Create one with: cloakroom account rotate-keys',
  },
  clocks_differ: {
    help: 'Correct the wrong clock, reload this page, and retry.',
  },
  unreadable_workspace: {
    said: 'Your keys don’t open this workspace.',
    help: 'Ask an admin to invite you again.',
  },
  unreadable_value: {
    said: 'This value can’t be decrypted with the workspace key.',
    help: 'It was altered, or encrypted with another key. Replace it.',
  },
  unfinished: {
    said: 'The server became unavailable before the deletion finished.',
    help: 'Some tokens may have ended already. Delete it again to finish.',
  },
  unproven_policy: {
    said: 'A stored value doesn’t match its policy.',
    help: 'Nothing was stored. Set value and policy again in a terminal.',
  },
  unstorable: { help: 'Nothing was stored.' },
  changed_name: {
    said: 'This name now belongs to something else.',
    help: 'Nothing was changed. Review the blocked name above.',
  },
  hidden_workspace: {
    said: 'The server hides a workspace you were a member of.',
    help: 'Nothing was changed. Open Workspaces and confirm that you left it.',
  },
  untrusted_chain: {
    said: 'The server shows something other than what members signed.',
    help: 'Nothing was changed. Compare fingerprints with another member.',
  },
  untrusted_key: {
    said: 'The workspace key isn’t the one you saw before.',
    help: 'Nothing was changed. Compare fingerprints with another member.',
  },
  no_account: {
    said: 'No account uses this email.',
    help: 'Ask them to create an account on this server first.',
  },
  unproven_key: {
    said: 'The server shows false keys for this person.',
    help: 'Nothing was shared with them. Ask the server’s operator.',
  },
  no_signing_key_there: {
    said: 'Their account has no signing key.',
    help: 'They create one with: cloakroom account rotate-keys',
  },
  other_fingerprint: {
    said: 'Their keys changed since you compared them.',
    help: 'Nobody was invited. Compare the fingerprint again.',
  },
  other_workspace: {
    said: 'This isn’t the workspace in the link.',
    help: 'Nothing was accepted. Call the person who sent you the link.',
  },
  not_signed: {
    said: 'This workspace isn’t signed.',
    help: 'Nothing was changed. Use a terminal, or create a new workspace.',
  },
  passkey_stopped: {
    said: 'No passkey was used.',
    help: 'Retry. This device may have none for this address.',
  },
  passkey_present: {
    said: 'This device already has one of your passkeys.',
    help: 'Use that passkey, or remove it in Account first.',
  },
  passkey_failed: {
    said: 'This browser couldn’t use a passkey.',
    help: 'Use your password instead.',
  },
  passkey_refused: {
    said: 'No account here uses this passkey.',
    help: 'Sign in with your password. The passkey may have been removed.',
  },
  passkey_cannot_unlock: {
    said: 'This passkey can’t unlock your keys.',
    help: 'Unlock with your password, then let it unlock in Account.',
  },
  passkey_without_prf: {
    said: 'This passkey can only sign you in.',
    help: 'Its device or this browser can’t unlock keys. Use your password.',
  },
  unverified_request: {
    said: 'This request no longer verifies, so nothing was allowed.',
    help: 'Its token, host or secret may have changed. The agent can make the call again.',
  },
  account_stays: {
    said: 'You own this installation, so your account can’t be deleted.',
    help: 'Nothing was deleted.',
  },
  weak_password: {
    said: 'This password is too easy to guess.',
    help: 'Use at least 12 characters. Four unrelated words work well.',
  },
  malformed_recovery_key: {
    said: 'This isn’t a recovery key.',
    help: 'A recovery key has 64 characters, 0–9 and a–f.',
  },
  unreadable_copy: {
    said: 'This recovery key doesn’t open your keys.',
    help: 'Nothing was changed. If the key is right, ask the server’s operator.',
  },
  not_copied: {
    said: 'Your browser blocked copying.',
    help: 'Show the value and copy it yourself.',
  },
  other_account: {
    said: 'The server answered for another account.',
    help: 'Nothing was opened. Check the server’s address, or ask its operator.',
  },
  unreadable_keys: {
    said: 'This password doesn’t open your keys.',
    help: 'Nothing was changed. If it’s right, ask the server’s operator.',
  },
}

export const errors = {
  byCode,
  internal: { said: 'Something went wrong in this page.' },
  unavailable: 'The server is unavailable. You see earlier data until it answers.',
  clocks: 'Correct the wrong clock. Expiry times may be off.',
  screenFailed: 'This screen failed to load',
  tryAgain: 'Try again',
}
