// A page that is opened as a file may start no worker, so that the search would be silent. There, this runs the worker's
// script in a hidden frame of the same page, and passes messages as a worker does.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.appendChild(frame)
      this.frame = frame
      const inner = frame.contentWindow
      const out = data => this.say(data)
      const script = inner.document.createElement("script")
      inner.postMessage = out
      inner.importScripts = () => {}
      script.src = url
      script.onload = () => {
        const waiting = this.waiting
        this.waiting = null
        for (const data of waiting) this.hand(data)
      }
      script.onerror = () => this.dispatchEvent(new Event("error"))
      inner.document.body.appendChild(script)
    }
    say(data) {
      setTimeout(() => {
        const event = new MessageEvent("message", { data })
        this.dispatchEvent(event)
        if (this.onmessage) this.onmessage(event)
      })
    }
    hand(data) {
      const inner = this.frame.contentWindow
      inner.dispatchEvent(new inner.MessageEvent("message", { data }))
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data)
      else this.hand(data)
    }
    terminate() {
      this.frame.remove()
    }
  }
}
