/**
 * A notice on the person's desktop that an agent waits. Its text comes from agents, so no shell and no script ever reads
 * it as code: it is an argument, or on Windows a variable.
 */
import { startDetached } from '../../core/helper_program.ts'
import { printable } from '../../core/printable.ts'
import type { Host } from '../host.ts'

const MAC_SCRIPT = [
  ...['-e', 'on run argv'],
  ...['-e', 'display notification (item 2 of argv) with title (item 1 of argv)'],
  ...['-e', 'end run'],
]
/** Shows a balloon: it needs no package and no registered application. */
const WINDOWS_SCRIPT = [
  'Add-Type -AssemblyName System.Windows.Forms',
  '$n = New-Object System.Windows.Forms.NotifyIcon',
  '$n.Icon = [System.Drawing.SystemIcons]::Information',
  '$n.Visible = $true',
  '$n.ShowBalloonTip(10000, $env:CLOAKROOM_TITLE, $env:CLOAKROOM_TEXT, 0)',
  'Start-Sleep 10',
  '$n.Dispose()',
].join('; ')
const MAX_TEXT = 200

type Program = { command: [string, ...string[]]; env?: Record<string, string> }

/** The program that shows it. A platform without one shows nothing. */
export function noticeProgram(
  platform: NodeJS.Platform,
  texts: { title: string; text: string },
): Program | null {
  const [title, text] = [texts.title, texts.text].map((one) => printable(one).slice(0, MAX_TEXT))
  if (title === undefined || text === undefined) return null
  if (platform === 'darwin') return { command: ['osascript', ...MAC_SCRIPT, title, text] }
  if (platform === 'win32') {
    const command: Program['command'] = ['powershell', '-NoProfile', '-Command', WINDOWS_SCRIPT]
    return { command, env: { CLOAKROOM_TITLE: title, CLOAKROOM_TEXT: text } }
  }
  // Some desktops read markup in the text.
  const plain = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return { command: ['notify-send', '--app-name=Cloakroom', '--', title, plain] }
}

export function notifyDesktop({ env }: Pick<Host, 'env'>, title: string, text: string): void {
  const program = noticeProgram(process.platform, { title, text })
  if (program) startDetached(program.command, { ...env, ...program.env })
}
