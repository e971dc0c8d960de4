/**
 * What codes of refusals mean to people, and what helps. Where nothing stands here the server's own sentence is
 * shown, which is written for people too.
 */
import { connectErrors } from './connections/errors.ts'

type Words = { said?: string; help?: string }

const byCode: Record<string, Words> = {
  ...connectErrors,
  unreachable: {
    said: 'The server cannot be reached.',
    help: 'Check the connection; nothing was changed. It is tried again when you do.',
  },
  unusable_answer: {
    said: 'The answer is not one of Cloakroom.',
    help: 'A gateway between here and the server may have answered. Try again, or ask its operator.',
  },
  locked: { said: 'Your keys are locked.', help: 'Unlock with your password to go on.' },
  worker_failed: {
    said: 'The worker that holds your keys ended.',
    help: 'Reload the page. If it happens again, this browser may be too old.',
  },
  session_ended: {
    said: 'The session has ended.',
    help: 'It expired, or was ended elsewhere, as by a new password. Log in again.',
  },
  not_found: {
    said: 'It is not there, or not for you to see.',
    help: 'It may have been removed. Go back and look again.',
  },
  no_address: {
    said: 'What the server gives as its address is none.',
    help: 'Ask who runs it for its SERVICE_SERVER_URL and SERVICE_RESOLVER_URL.',
  },
  no_signing_key: {
    said: 'This account has no signing key, and can sign nothing.',
    help: 'Give it one with: cloakroom account rotate-keys',
  },
  clocks_differ: {
    help: 'Correct the wrong clock, load this page again, and repeat what you did.',
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
    said: 'The server went away before it was deleted.',
    help: 'Tokens that end with it may have ended already. Do it again once the server is back: what is done stays done.',
  },
  unproven_policy: {
    help: 'Value or policy were altered in the database, or sealed under another key. Store the value again at a terminal, with the policy that it is to have.',
  },
  unstorable: { help: 'Nothing was stored.' },
  changed_name: {
    help: 'Nothing was changed. Review the blocked name above.',
  },
  hidden_workspace: {
    said: 'The server hides a workspace you were a member of. Your old keys would stay active there.',
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
    said: 'Address or password is wrong.',
    help: 'Without the password only the recovery key opens the account.',
  },
  passkey_stopped: {
    said: 'No passkey was used.',
    help: 'It was stopped, took too long, or this device has none for this address.',
  },
  passkey_present: { said: 'This device has a passkey of yours already.' },
  passkey_failed: {
    said: 'The browser could not use a passkey here.',
    help: 'The password goes on to work.',
  },
  passkey_refused: {
    said: 'This passkey opens no account here.',
    help: 'It may have been removed, or was made for another server. Log in with the password.',
  },
  passkey_cannot_unlock: {
    said: 'This passkey does not unlock your keys.',
    help: 'They may have been replaced since. Unlock with the password, and let the passkey unlock again in your account.',
  },
  passkey_without_prf: {
    said: 'This passkey cannot unlock: its device, this browser or the account lacks what that takes.',
    help: 'It goes on to log you in, and the password unlocks.',
  },
  unverified_request: {
    said: 'This request no longer verifies, so nothing was allowed.',
    help: 'Its token, host or secret may have changed. The agent can make the call again.',
  },
  account_stays: { help: 'Nothing was deleted.' },
  not_confirmed: {
    said: 'What was typed is not your address.',
    help: 'Nothing was done. Type it as it stands there.',
  },
  weak_password: { help: 'Nothing was done. Choose another one.' },
  malformed_recovery_key: {
    said: 'This is no recovery key.',
    help: 'It has 64 characters from 0 to 9 and a to f. Nothing was sent.',
  },
  unreadable_copy: {
    said: 'The keys that the server has for you do not open with this recovery key.',
    help: 'Somebody may have altered them. Nothing was changed. Ask the operator of the server.',
  },
  not_copied: {
    said: 'Your browser blocked copying.',
    help: 'Show the value and copy it yourself.',
  },
  other_account: {
    said: 'The server answered for another address than the one that you typed, or that your keys are for.',
    help: 'Nothing was opened. Look at the address of the server, and ask its operator.',
  },
  unreadable_keys: {
    said: 'The keys that the server has for you do not open with this password.',
    help: 'Somebody may have altered them. Nothing was used. Ask the operator of the server.',
  },
}

export const errors = {
  byCode,
  internal: { said: 'Something went wrong in this page.' },
  away: 'The server does not answer. What stands here was read before; it is asked again by itself.',
  clocks: 'Correct the wrong one: what expires may end at another time than is shown.',
  screenFailed: 'This screen failed',
  tryAgain: 'Try again',
}
