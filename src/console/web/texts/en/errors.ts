/**
 * A sentence and a fix for each error code. A code without a sentence here shows the server's own message.
 */
import { connectErrors } from './connections/errors.ts'

type Words = { said?: string; help?: string }

const byCode: Record<string, Words> = {
  ...connectErrors,
  unreachable: {
    said: 'The server is unavailable.',
    help: 'Check your connection and try again. A change may already be saved.',
  },
  unavailable: {
    said: 'The server is unavailable.',
    help: 'Try again in a moment.',
  },
  internal_error: {
    said: 'The server failed to answer.',
    help: 'Try again. If it fails again, ask the server’s operator.',
  },
  unusable_answer: {
    said: 'This response isn’t from a Cloakroom server.',
    help: 'A gateway may have answered. Try again, or ask its operator.',
  },
  locked: {
    said: 'Your keys are locked.',
    help: 'Unlock to continue.',
  },
  worker_failed: {
    said: 'The worker that holds your keys stopped.',
    help: 'Reload the page. If it happens again, update your browser.',
  },
  session_ended: {
    said: 'Your session ended.',
    help: 'It expired, or was signed out elsewhere. Sign in again.',
  },
  not_found: {
    said: 'Not found, or you don’t have access.',
    help: 'Go back and reload the list.',
  },
  no_address: {
    said: 'The server has no valid address.',
    help: 'Ask its operator to set SERVICE_SERVER_URL and SERVICE_RESOLVER_URL.',
  },
  no_signing_key: {
    said: 'This account has no signing key.',
    help: 'Create one with: cloakroom account rotate-keys',
  },
  clocks_differ: {
    help: 'Correct the wrong clock, reload this page, and try again.',
  },
  unreadable_workspace: {
    said: 'Your keys don’t open this workspace.',
    help: 'Ask an admin to invite you again.',
  },
  unreadable_value: {
    said: 'This value can’t be decrypted with the workspace key.',
    help: 'It was altered or sealed under another key. Replace it.',
  },
  conflict: {
    said: 'Someone else changed this first.',
    help: 'Nothing was overwritten. Review their change and retry.',
  },
  unfinished: {
    said: 'The server became unavailable before everything was deleted.',
    help: 'Some tokens may have ended already. Delete it again to finish.',
  },
  unproven_policy: {
    help: 'Someone may have altered them. Store the value again in a terminal.',
  },
  unstorable: { help: 'Nothing was stored.' },
  changed_name: {
    help: 'Nothing was changed. Review the blocked name above.',
  },
  hidden_workspace: {
    said: 'The server hides a workspace where your old keys stay active.',
    help: 'Nothing was changed. Open Workspaces and confirm that you left it.',
  },
  untrusted_chain: { help: 'Nothing was changed. Compare fingerprints with another member.' },
  untrusted_key: { help: 'Nothing was changed. Compare fingerprints with another member.' },
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
  last_owner: {
    said: 'A workspace needs an owner.',
    help: 'Make someone else an owner first.',
  },
  invalid_credentials: {
    said: 'Email or password is wrong.',
    help: 'Forgot it? Use your recovery key.',
  },
  passkey_stopped: {
    said: 'No passkey was used.',
    help: 'Try again. This device may have none for this address.',
  },
  passkey_present: {
    said: 'This device already has one of your passkeys.',
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
    help: 'Nothing was changed. Someone may have altered them: ask the server’s operator.',
  },
  not_copied: {
    said: 'Your browser blocked copying.',
    help: 'Show the value and copy it yourself.',
  },
  other_account: {
    said: 'The server answered for another account.',
    help: 'Nothing was opened. Check the server’s address, and ask its operator.',
  },
  unreadable_keys: {
    said: 'This password doesn’t open your keys.',
    help: 'Nothing was used. Someone may have altered them: ask the server’s operator.',
  },
}

export const errors = {
  byCode,
  internal: { said: 'Something went wrong in this page.' },
  away: 'The server is unavailable. This page may be out of date.',
  clocks: 'Correct the wrong clock. Expiry times may be off.',
  screenFailed: 'This screen failed to load',
  tryAgain: 'Try again',
}
