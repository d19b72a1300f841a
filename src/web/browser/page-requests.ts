/** What a live page asks the service for. */
import { isPaused, whenResumed } from './pauses.ts'

/** @throws {Error} if the service could not answer now: it is asked again */
export async function request(url: string, accept: string): Promise<Response> {
  const response = await fetch(url, { headers: { accept } })
  if (response.status === 429 || response.status >= 500) throw new Error(`status ${response.status}`)
  return response
}

/** Fetches a page as it is now. */
export async function requestPage(address: string): Promise<readonly [Response, string]> {
  await whenResumed()
  const response = await request(address, 'text/html')
  const text = await response.text()
  // A page that was made before a drop has the card in its old place.
  return isPaused() ? requestPage(address) : [response, text]
}
