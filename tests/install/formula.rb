# steno: evaluates a formula of Homebrew and prints its fields. SPDX-License-Identifier: MIT
#
#   ruby tests/install/formula.rb steno.rb
#
# A field that formulae do not have, or a value of another kind, is an error. What `install` and `test` would run is printed, not run.
HOMEBREW_PREFIX = "/prefix".freeze

class Formula
  TEXTS = %i[desc homepage url version sha256].freeze
  Place = Struct.new(:name) { def to_s = "/cellar/#{name}" }
  class << self
    TEXTS.each do |field|
      define_method(field) do |value|
        raise ArgumentError, "#{field} is #{value.inspect}" unless value.is_a?(String) && !value.empty?

        puts "#{field} #{value}"
      end
    end

    def license(value)
      raise ArgumentError, "license is #{value.inspect}" unless value.is_a?(String) || (value.is_a?(Hash) && value.keys == [:all_of])

      puts "license #{value.is_a?(Hash) ? value[:all_of].join(" and ") : value}"
    end

    def depends_on(value)
      name, how = value.is_a?(Hash) ? value.first : [value, :run]
      raise ArgumentError, "depends_on #{value.inspect}" unless [:run, :build].include?(how) && (name.is_a?(String) || name == :linux)

      puts "depends_on #{name} #{how}"
    end

    def test(&block) = define_method(:run_test, &block)
  end

  %i[bin lib pkgshare prefix].each { |place| define_method(place) { Place.new(place) } }
  def rpath = "$ORIGIN/../lib"
  def std_cmake_args = ["-DCMAKE_INSTALL_PREFIX=#{prefix}", "-DCMAKE_INSTALL_RPATH=#{rpath}"]
  def system(*words) = puts(words.each { |word| raise ArgumentError, word.inspect unless word.is_a?(String) }.join(" "))

  def shell_output(command)
    puts command
    "zero nine one eight.\n"
  end

  def assert_match(wanted, got) = (raise "\"#{wanted}\" is not in what is printed" unless got.include?(wanted))
end

load ARGV.fetch(0)
formula = Steno.new
formula.install
formula.run_test
