/** Opening a page in the person's browser. */
import { startDetached } from '../../core/helper_program.ts'
import type { Host } from '../host.ts'

const OPENERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  // Not cmd, which takes the & of an address for its own.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Without a browser, the person copies the printed address. */
export function openBrowser(host: Host, url: string): void {
  if (host.openBrowser) {
    host.openBrowser(url)
    return
  }
  const [opener = 'xdg-open', ...args] = OPENERS[process.platform] ?? []
  startDetached([opener, ...args, url])
}
