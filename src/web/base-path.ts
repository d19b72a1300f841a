/**
 * The attributes of our elements that have addresses of this service. No text has a quotation mark that is not escaped, so what looks like
 * one of them is one.
 */
const ADDRESSES = / (?:href|src|action|formaction|data-(?:base|board|worker|forms|challenge|path|people|find))="(?=\/(?!\/))/g

/**
 * Adds the path of the public URL to the addresses in HTML. Pages have them without it, so that no page has to know where the service is.
 * @param base such as `/kanban`, or ''
 */
export function addBase(base: string, html: string): string {
  return base === '' ? html : html.replaceAll(ADDRESSES, (attribute) => attribute + base)
}
